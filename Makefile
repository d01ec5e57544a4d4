# assay. `make help` lists the targets.
# Layers: libassay (ref/) <- libvectors (vectors/) <- assay (harness/). Adapters are shared objects.

BUILD   ?= build
CC      ?= gcc
CXX     ?= g++
PYTHON  ?= python3
VENV    ?= .venv
OPT     ?= -O3
SAN     ?=
WARN     = -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
# Numerics contract: no contraction, no fast math; the two -fno change no value.
NUMERIC  = -ffp-contract=off -fno-math-errno -fno-trapping-math
CFLAGS   = -std=c11 -D_GNU_SOURCE $(OPT) -g -fPIC $(WARN) $(NUMERIC) $(SAN)
CXXFLAGS = -std=c++17 -O2 -g -fPIC $(SAN)
LDFLAGS  = $(SAN)
LIBS     = -lmpfr -lgmp -ljansson -lcrypto -lpthread -ldl -lm
DEPFLAGS = -MMD -MP

REF      = $(filter-out $(wildcard ref/fast_kernels*.c), $(wildcard ref/*.c))
VECTORS  = $(wildcard vectors/*.c)
HARNESS  = $(wildcard harness/*.c)
RECIPES  = $(sort $(wildcard ref/recipes/*/*.recipe))
TESTS    = $(wildcard tests/test_*.c)

include $(wildcard ref/*.mk vectors/*.mk harness/*.mk adapters/*.mk adapters/*/*.mk tests/*.mk kernels/*.mk reports/*.mk)

REF_O     = $(REF:%.c=$(BUILD)/%.o) $(REF_EXTRA_O)
VECTORS_O = $(VECTORS:%.c=$(BUILD)/%.o) $(VECTORS_EXTRA_O)
HARNESS_O = $(HARNESS:%.c=$(BUILD)/%.o)
TEST_BIN  = $(TESTS:tests/%.c=$(BUILD)/tests/%)

.DEFAULT_GOAL = all
.PHONY: all check conformance help deps clean
.SECONDARY:

all: assay $(ADAPTERS)

assay: $(BUILD)/assay
	@cp -f $< $@

$(BUILD)/assay: $(HARNESS_O) $(BUILD)/libvectors.a $(BUILD)/libassay.a
	$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LIBS)

$(BUILD)/libassay.a: $(REF_O)
	@rm -f $@
	$(AR) rcs $@ $^
$(BUILD)/libvectors.a: $(VECTORS_O)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

# The recipes, embedded as text.
$(BUILD)/gen/catalogue_data.c: $(RECIPES) ref/embed.sh
	@mkdir -p $(@D)
	sh ref/embed.sh $(RECIPES) >$@.tmp && mv $@.tmp $@
$(BUILD)/gen/catalogue_data.o: $(BUILD)/gen/catalogue_data.c
	$(CC) -std=c11 $(OPT) -fPIC $(SAN) -c -o $@ $<
REF_EXTRA_O += $(BUILD)/gen/catalogue_data.o

$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(BUILD)/tests/checks.o $(BUILD)/libvectors.a $(BUILD)/libassay.a
	$(CC) $(LDFLAGS) -o $@ $^ $(TEST_LIBS) $(shell pkg-config --libs check) $(LIBS)

clean:
	rm -rf $(BUILD) assay

-include $(REF_O:.o=.d) $(VECTORS_O:.o=.d) $(HARNESS_O:.o=.d) $(TESTS:tests/%.c=$(BUILD)/tests/%.d)
