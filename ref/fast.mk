# The fast evaluator: its kernels, built once for each instruction set, and the reciprocal table.

# rcp_approx.table.xz (2 bits for each of 2^23 mantissas) unpacked and embedded as it is.
$(BUILD)/gen/rcp_approx.table: ref/rcp_approx.table.xz
	@mkdir -p $(@D)
	xz -dc $< >$@.tmp && mv $@.tmp $@
$(BUILD)/gen/rcp_approx_table.S: $(BUILD)/gen/rcp_approx.table
	@printf '.section .rodata\n.global assay_rcp_approx_table\n.balign 64\nassay_rcp_approx_table:\n.incbin "%s"\n.section .note.GNU-stack,"",%%progbits\n' '$<' >$@
$(BUILD)/gen/rcp_approx_table.o: $(BUILD)/gen/rcp_approx_table.S
	$(CC) -c -o $@ $<
REF_EXTRA_O += $(BUILD)/gen/rcp_approx_table.o
