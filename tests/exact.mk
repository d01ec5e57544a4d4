# Tests of the exact evaluator share a builder of programs and a reader of recipe texts. The library
# is named once more behind them, for the linker reads archives in order.
EXACT_TESTS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_exact*.c))
$(EXACT_TESTS): $(BUILD)/tests/program_builder.o $(BUILD)/tests/recipe_case.o
$(EXACT_TESTS): TEST_LIBS += $(BUILD)/libassay.a

# 18 million operations against the machine's floating-point unit.
.PHONY: exhaustive-exact
exhaustive-exact: $(BUILD)/tests/test_exact_arithmetic
	ASSAY_MANY=14 $<
EXHAUSTIVE += exhaustive-exact
