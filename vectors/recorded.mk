# Recorded answers of real kernels (vectors/recorded/README.md), unpacked for the tests.
RECORDED = $(patsubst vectors/recorded/%.xz,$(BUILD)/recorded/%,$(wildcard vectors/recorded/*.xz))

$(BUILD)/recorded/%: vectors/recorded/%.xz
	@mkdir -p $(@D)
	$(Q)xz -dc $< >$@.tmp && mv $@.tmp $@

.PHONY: recorded
recorded: $(RECORDED)
check-run: $(RECORDED)
$(BUILD)/tests/test_recorded $(BUILD)/tests/test_instructions: | $(RECORDED)
