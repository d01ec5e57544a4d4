/* The whole contract between assay and a system under test: plain C, this page.
 *
 * An adapter is a shared object that exports assay_adapter_main(). The harness loads it in a child
 * process, so it may crash, hang or exit: that is a verdict, never the end of the run. The harness
 * owns every buffer. Outputs arrive poisoned and fenced; whatever is not written is noticed. */
#ifndef ASSAY_ADAPTER_H
#define ASSAY_ADAPTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_ADAPTER_ABI 1

typedef struct {
    const char *name;    /* the recipe's own name for it: "x", "A", "Q", "S" */
    const char *type;    /* "f32", "bf16", "e4m3", "e2m1", "u32", ...: one code in code_bytes bytes,
                            little-endian, right-aligned (an e2m1 code takes a whole byte) */
    int64_t rows, cols;  /* one code for each tile of the value's tiling, logical coordinates,
                            never transposed; a scale of 1x16 blocks over M x K: M x ceil(K/16) */
    int64_t row_stride;  /* codes from one row to the next, >= cols */
    int64_t code_bytes;  /* 1, 2, 4, 8 */
    void *data;          /* host memory; inputs: read only; outputs: to be filled */
} assay_tensor;

typedef struct {
    const char *name, *value;
} assay_setting;

/* What is asked for: an instance of a recipe on an M x K matrix. */
typedef struct {
    const char *instance;           /* "te.nvfp4(T=bf16, tile=1x16, math=exact)" */
    const char *recipe;             /* "te.nvfp4" */
    const char *sha256;             /* identity of its numerics */
    const char *canonical;          /* its canonical text */
    const assay_setting *settings;  /* every parameter, derived ones too: {"T", "bf16"}, ... */
    int64_t setting_count;
    int64_t m, k;                   /* 0, 0 when `supports` asks in general */
} assay_contract;

typedef enum {
    ASSAY_DONE = 0,        /* run: all outputs are written; supports: yes */
    ASSAY_UNSUPPORTED = 1, /* not this contract (or shape); message says why */
    ASSAY_FAILED = 2       /* the system reported an error; message says which */
} assay_answer;

typedef struct {
    char library[128], version[128], device[128]; /* "CUDA headers", "13.0", "host" */
} assay_description;

typedef struct {
    int abi; /* ASSAY_ADAPTER_ABI */
    /* open, describe, supports and close may be NULL: nothing to load, the file's name, every
     * contract that run does not refuse, nothing to free. */
    /* Loads the library. `options` is the text behind "NAME:" on the command line, or "". */
    assay_answer (*open)(void **state, const char *options, char *message, size_t message_size);
    void (*describe)(void *state, assay_description *description);
    assay_answer (*supports)(void *state, const assay_contract *contract, char *message,
                             size_t message_size);
    /* May be called many times, also with the same inputs; must give the same answer. */
    assay_answer (*run)(void *state, const assay_contract *contract, const assay_tensor *inputs,
                        int64_t input_count, const assay_tensor *outputs, int64_t output_count,
                        char *message, size_t message_size);
    void (*close)(void *state);
} assay_adapter;

/* The one symbol that a shared object must export; never freed. */
const assay_adapter *assay_adapter_main(void);

/* The value of a setting, or NULL. */
static inline const char *assay_contract_setting(const assay_contract *contract, const char *name)
{
    for (int64_t i = 0; i < contract->setting_count; i++) {
        const char *a = contract->settings[i].name, *b = name;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b)
            return contract->settings[i].value;
    }
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
