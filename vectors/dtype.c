#include "dtype.h"

#include <string.h>

static const struct {
    const char *dtype, *word;
} formats[] = {
    {"F64", "f64"},         {"F32", "f32"},         {"F16", "f16"},
    {"BF16", "bf16"},       {"F8_E4M3", "e4m3"},    {"F8_E5M2", "e5m2"},
    {"F8_E8M0", "e8m0"},    {"F8_E4M3FNUZ", "e4m3fnuz"}, {"F8_E5M2FNUZ", "e5m2fnuz"},
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

const char *dtype_word(const char *dtype)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (!strcmp(formats[i].dtype, dtype))
            return formats[i].word;
    return NULL;
}

const char *dtype_of_bits(assay_type t)
{
    switch (assay_type_storage(t)) {
    case 1: return "U8";
    case 2: return "U16";
    case 4: return "U32";
    default: return "U64";
    }
}

const char *dtype_of_type(assay_type t)
{
    static const char *const native[] = {"F64", "F32", "F16", "BF16"};
    if (t.kind == ASSAY_T_I32)
        return "I32";
    if (t.kind == ASSAY_T_FORMAT)
        for (int i = 0; i < 4; i++)
            if (!strcmp(dtype_word(native[i]), t.format->name))
                return native[i];
    return dtype_of_bits(t);
}

bool dtype_fits(assay_type t, const char *dtype)
{
    const char *word = dtype_word(dtype);
    if (!strcmp(dtype, dtype_of_type(t)))
        return true;
    switch (t.kind) {
    case ASSAY_T_FORMAT: return word && !strcmp(word, t.format->name);
    case ASSAY_T_BOOL: return !strcmp(dtype, "BOOL");
    case ASSAY_T_U32: return !strcmp(dtype, "I32");
    case ASSAY_T_I32: return !strcmp(dtype, "U32");
    case ASSAY_T_U64: return !strcmp(dtype, "I64");
    default: return false;
    }
}
