# Adapters that are wrong on purpose. Built without sanitizers: their misdeeds are the point.
ADAPTERS += $(BUILD)/adapters/faulty.so
FAULTY_SOURCES = $(wildcard adapters/faulty/*.c)
$(BUILD)/adapters/faulty.so: $(FAULTY_SOURCES) adapters/faulty/faulty.h adapters/adapter.h
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g -fPIC -fstack-protector-strong $(WARN) -ffp-contract=off -shared -o $@ $(FAULTY_SOURCES) -lm
