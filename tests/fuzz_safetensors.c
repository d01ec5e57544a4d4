/* Fuzz target: any bytes either open, with every tensor readable to its end, or give a message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../vectors/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile unsigned sink;

static void read_all(const safetensors_file *f)
{
    unsigned sum = 0;
    for (int i = 0; i < safetensors_count(f); i++) {
        const safetensors_tensor *t = safetensors_at(f, i);
        if (safetensors_find(f, t->name) != t ||
            safetensors_dtype_size(t->dtype, t->rank, t->shape) != t->size)
            abort();
        for (int64_t j = 0; j < t->size; j++)
            sum += ((const uint8_t *)t->data)[j];
    }
    for (int i = 0; i < safetensors_metadata_count(f); i++) {
        const char *key, *value;
        safetensors_metadata_at(f, i, &key, &value);
        if (safetensors_metadata(f, key) != value)
            abort();
    }
    sink = sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    assay_error error = {""};
    safetensors_file *f = safetensors_open_memory(bytes, size, "fuzz", &error);
    if (f)
        read_all(f);
    else if (!*error.message || !memchr(error.message, ':', sizeof error.message))
        abort();
    safetensors_close(f);
    return 0;
}
