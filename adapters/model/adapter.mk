# libassay behind the adapter interface; linked with its own copy of the library.
ADAPTERS += $(BUILD)/adapters/model.so
$(BUILD)/adapters/model.so: $(BUILD)/adapters/model/adapter.o $(BUILD)/libassay.a
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -o $@ $^ -lmpfr -lgmp -lcrypto -lpthread -lm
-include $(BUILD)/adapters/model/adapter.d
