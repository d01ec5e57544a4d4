# Tests of the fast evaluator share the generator of random programs; the library is named once more
# behind it, for the linker reads archives in order.
FAST_TESTS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_fast*.c))
$(FAST_TESTS): $(BUILD)/tests/random_program.o $(BUILD)/tests/random_pieces.o \
    $(BUILD)/tests/random_expression.o $(BUILD)/tests/random_case.o
$(FAST_TESTS): TEST_LIBS += $(BUILD)/libassay.a
