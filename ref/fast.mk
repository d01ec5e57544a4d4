# The fast evaluator: its kernels, built once for each instruction set, and the reciprocal table.

# rcp_approx.table.xz (2 bits for each of 2^23 mantissas) unpacked and embedded as it is.
$(BUILD)/gen/rcp_approx.table: ref/rcp_approx.table.xz
	@mkdir -p $(@D)
	$(Q)xz -dc $< >$@.tmp && mv $@.tmp $@
$(BUILD)/gen/rcp_approx_table.S: $(BUILD)/gen/rcp_approx.table
	@printf '.section .rodata\n.global assay_rcp_approx_table\n.balign 64\nassay_rcp_approx_table:\n.incbin "%s"\n.section .note.GNU-stack,"",%%progbits\n' '$<' >$@
$(BUILD)/gen/rcp_approx_table.o: $(BUILD)/gen/rcp_approx_table.S
	$(Q)$(CC) -c -o $@ $<
REF_EXTRA_O += $(BUILD)/gen/rcp_approx_table.o

# The kernels. -O3 is part of the contract: at -O2 they are four times slower.
FAST_SOURCES = $(wildcard ref/fast_kernels_*.c)
FAST_FLAGS = $(filter-out $(OPT),$(CFLAGS)) -O3
FAST_OBJECTS = $(FAST_SOURCES:%.c=$(BUILD)/%.base.o)
ifeq ($(shell uname -m),x86_64)
FAST_OBJECTS += $(FAST_SOURCES:%.c=$(BUILD)/%.v3.o)
$(BUILD)/ref/recipe_fast_cpu.o: CFLAGS += -DASSAY_FAST_V3
endif
$(BUILD)/ref/fast_kernels_%.base.o: ref/fast_kernels_%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FAST_FLAGS) $(DEPFLAGS) -DFAST_ISA=_base -c -o $@ $<
$(BUILD)/ref/fast_kernels_%.v3.o: ref/fast_kernels_%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FAST_FLAGS) $(DEPFLAGS) -DFAST_ISA=_v3 -march=x86-64-v3 -c -o $@ $<
REF_EXTRA_O += $(FAST_OBJECTS)
