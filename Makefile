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
# V=1 shows the whole commands.
ifneq ($(V),1)
Q = @printf '  %s %s\n' MAKE $@;
endif

REF      = $(filter-out $(wildcard ref/fast_kernels*.c), $(wildcard ref/*.c))
VECTORS  = $(wildcard vectors/*.c)
HARNESS  = $(wildcard harness/*.c)
RECIPES  = $(sort $(wildcard ref/recipes/*/*.recipe))
TESTS    = $(wildcard tests/test_*.c)

include $(wildcard ref/*.mk vectors/*.mk harness/*.mk adapters/*.mk adapters/*/*.mk tests/*.mk kernels/*.mk reports/*.mk)

REF_EXTRA_O += $(BUILD)/gen/catalogue_data.o
REF_O     = $(REF:%.c=$(BUILD)/%.o) $(REF_EXTRA_O)
VECTORS_O = $(VECTORS:%.c=$(BUILD)/%.o) $(VECTORS_EXTRA_O)
HARNESS_O = $(HARNESS:%.c=$(BUILD)/%.o)
TEST_BIN  = $(TESTS:tests/%.c=$(BUILD)/tests/%)
TEST_SCRIPTS = $(wildcard tests/test_*.sh)

.DEFAULT_GOAL = all
.PHONY: all check check-run conformance conformance-run exhaustive exhaustive-run sanitize bench help deps vendors clean

# Set-up happens in a make of its own, so that what it installed is seen by the rules.
SUBMAKE = $(MAKE) --no-print-directory

help:
	@echo "make conformance  set up, build, judge third-party adapters and real weights, write build/report.html"
	@echo "make check        set up, build, run every test; prints the counts"
	@echo "make all          build the command, the library and the adapters"
	@echo "make deps         install Debian packages and the Python environment (.venv); says what it does"
	@echo "make vendors      a Python environment with other systems (.venv-vendors): torch, torchao ..."
	@echo "make experiments  published claims measured: means, training, geometry, outer blocks"
	@echo "make catalogue    every recipe as a page: build/catalogue.html"
	@echo "make vendors-check  the recipes against the real CPU systems (after make vendors)"
	@echo "make bench        speed of the engines beside their peers -> build/bench.json"
	@echo "make exhaustive   all 2^32 inputs and all instances; hours; with progress"
	@echo "make sanitize     the whole test suite under the address and undefined sanitizers"
	@echo "make fuzz T=60    every fuzz target for T seconds"
	@echo "make clean        remove build/"

deps:
	@sh tests/deps.sh system python

vendors:
	@sh tests/deps.sh system python vendors
.SECONDARY:

all: assay $(ADAPTERS)

assay: $(BUILD)/assay
	@cp -f $< $@

$(BUILD)/assay: $(HARNESS_O) $(BUILD)/libvectors.a $(BUILD)/libassay.a
	$(Q)$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LIBS)

$(BUILD)/libassay.a: $(REF_O)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/libvectors.a: $(VECTORS_O)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

# The recipes, embedded as text.
$(BUILD)/gen/catalogue_data.c: $(RECIPES) ref/embed.sh
	@mkdir -p $(@D)
	sh ref/embed.sh $(RECIPES) >$@.tmp && mv $@.tmp $@
$(BUILD)/gen/catalogue_data.o: $(BUILD)/gen/catalogue_data.c
	$(Q)$(CC) -std=c11 $(OPT) -fPIC $(SAN) -c -o $@ $<

$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(BUILD)/tests/checks.o $(BUILD)/libvectors.a $(BUILD)/libassay.a
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(TEST_LIBS) $(shell pkg-config --libs check) $(LIBS)

check: deps
	@$(SUBMAKE) check-run
check-run: all $(TEST_BIN) $(TEST_SCRIPTS)
	@ASSAY_BUILD=$(BUILD) sh tests/run.sh $(TEST_BIN) $(TEST_SCRIPTS)

conformance: deps
	@$(SUBMAKE) conformance-run
conformance-run: all
	@ASSAY_BUILD=$(BUILD) sh tests/conformance.sh

# The same tests, every object built with both sanitizers, in a build folder of its own.
sanitize: deps
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1 $(SUBMAKE) \
	    BUILD=build/sanitize OPT=-O1 WARN="-Wall -Wextra" SAN="-fsanitize=address,undefined -fno-omit-frame-pointer" \
	    check-run

# Days of one core in all; each part says how far it is. Sweeps resume from build/exhaustive.
exhaustive: deps
	@$(SUBMAKE) exhaustive-run
exhaustive-run: all $(EXHAUSTIVE)
	@mkdir -p $(BUILD)/exhaustive
	$(BUILD)/assay run --adapter cuda_headers --recipe 'cast.nvidia(*)' --sweep f32 -o $(BUILD)/exhaustive/cuda_headers.json
	$(BUILD)/assay run --adapter ml_dtypes --recipe 'cast.ml_dtypes(*)' --sweep f32 -o $(BUILD)/exhaustive/ml_dtypes.json
	$(BUILD)/assay vectors check
	$(BUILD)/assay run --adapter model --recipe '*,*(?*)' -o $(BUILD)/exhaustive/instances.json

bench: all
	$(BUILD)/assay bench --json -o $(BUILD)/bench.json

clean:
	rm -rf $(BUILD) assay

-include $(REF_O:.o=.d) $(VECTORS_O:.o=.d) $(HARNESS_O:.o=.d) $(TESTS:tests/%.c=$(BUILD)/tests/%.d)
