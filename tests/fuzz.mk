# Fuzz targets: tests/fuzz_NAME.c under libFuzzer with both sanitizers. `make fuzz T=60` runs each for
# T seconds from tests/corpus/NAME (words in NAME.dict); what it finds lies in $(BUILD)/fuzz. Needs clang.
T       ?= 60
FUZZ_CC ?= clang
FUZZERS += recipe safetensors

FUZZ_FLAGS = -std=c11 -D_GNU_SOURCE -O1 -g $(WARN) -fno-omit-frame-pointer \
             -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_C     = $(filter-out ref/recipe_exact% ref/recipe_fast% ref/recipe_explain%,$(REF)) \
             $(wildcard vectors/safetensors*.c)
FUZZ_O     = $(FUZZ_C:%.c=$(BUILD)/fuzz/%.o)
FUZZ_BIN   = $(addprefix $(BUILD)/fuzz/fuzz_,$(FUZZERS))

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link $(DEPFLAGS) -c -o $@ $<
$(BUILD)/fuzz/libfuzzed.a: $(FUZZ_O)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/fuzz/fuzz_%: $(BUILD)/fuzz/tests/fuzz_%.o $(BUILD)/fuzz/libfuzzed.a $(BUILD)/gen/catalogue_data.o
	$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(LIBS)

.PHONY: fuzz
fuzz: $(FUZZ_BIN)
	@for name in $(FUZZERS); do \
	    mkdir -p $(BUILD)/fuzz/found/$$name tests/corpus/$$name; \
	    echo "== fuzz_$$name, $(T) s"; \
	    $(BUILD)/fuzz/fuzz_$$name -max_total_time=$(T) -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
	        -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ \
	        $$(ls tests/corpus/$$name.dict 2>/dev/null | sed 's/^/-dict=/') \
	        $(BUILD)/fuzz/found/$$name tests/corpus/$$name || exit 1; \
	done

-include $(FUZZ_O:.o=.d)
