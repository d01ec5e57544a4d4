# Tests of the exact evaluator share a builder of programs.
EXACT_TESTS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_exact*.c))
$(EXACT_TESTS): $(BUILD)/tests/program_builder.o
