# All 2^32 f32 values of the OCP and NVIDIA formats: bulk == scalar == (on a subset) exact.
# `make exhaustive-convert EXHAUSTIVE_ARGS="--round e4m3"` gives the exact encoder every value.
EXHAUSTIVE_ARGS ?=

$(BUILD)/tests/exhaustive_convert: $(BUILD)/tests/exhaustive_convert.o $(BUILD)/libassay.a
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

.PHONY: exhaustive-convert
exhaustive-convert: $(BUILD)/tests/exhaustive_convert
	$< $(EXHAUSTIVE_ARGS)
EXHAUSTIVE += exhaustive-convert
