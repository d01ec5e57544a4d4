#include "classes.h"

#include <string.h>

static bool has_main(const assay_program *p)
{
    const assay_value *v = vectors_main(p);
    return v && v->type.kind == ASSAY_T_FORMAT;
}

static bool is_encoder(const assay_program *p)
{
    return has_main(p) && vectors_encodes(p);
}

static bool never(const assay_program *p)
{
    (void)p;
    return false;
}

static int nothing(assay_vector_set *set, assay_error *error)
{
    (void)set;
    (void)error;
    return 0;
}

const assay_class_row assay_classes[] = {
    {"special", "every special value at every lane of a block, in inputs of every kind", has_main,
     class_special},
    {"sweep16", "all 65,536 patterns of bf16 and f16, in order and mixed; all pairs of code and scale",
     has_main, class_sweep16},
    {"edges", "both neighbours of every boundary between adjacent codes, and of every scale threshold",
     is_encoder, class_edges},
    {"random", "raw bits; log-uniform values under scales of the whole range", has_main, class_random},
    {"heavy", "log-normal values with massive outliers", is_encoder, class_heavy},
    {"shapes", "ragged tails, single rows and columns, primes, nothing at all", has_main,
     class_shapes},
    {"real", "a user's tensors (assay run --input)", never, nothing},
};
const int assay_class_count = sizeof assay_classes / sizeof assay_classes[0];

const assay_class_row *assay_class_find(const char *name)
{
    for (int i = 0; i < assay_class_count; i++)
        if (!strcmp(assay_classes[i].name, name))
            return &assay_classes[i];
    return NULL;
}

void class_fill_ordinary(assay_case *c, const assay_program *p, vectors_rng *r)
{
    const assay_value *v = vectors_main(p);
    assay_grid *g = &c->inputs[vectors_main_index(p)];
    int storage = assay_type_storage(v->type);
    for (int64_t i = 0; i < g->rows * g->cols; i++)
        grid_set(g, storage, i, code_ordinary(v->type.format, r));
}
