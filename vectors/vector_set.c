#include "vector_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "set_memory.h"
#include "vector_file.h"

enum { EXACT_LIMIT = 1 << 20 };

assay_vector_set *vectors_empty(assay_program *p, const char *class_, uint64_t seed,
                                assay_error *error)
{
    assay_vector_set *set = calloc(1, sizeof *set);
    set_memory *memory = calloc(1, sizeof *memory);
    if (!set || !memory) {
        free(set);
        free(memory);
        assay_program_free(p);
        assay_fail(error, "out of memory");
        return NULL;
    }
    *set = (assay_vector_set){.program = p, .seed = seed, .arena = memory};
    set->recipe = p->name;
    set->class_ = vectors_text(set, "%s", class_);
    return set;
}

void assay_vectors_free(assay_vector_set *set)
{
    if (!set)
        return;
    set_memory *memory = set->arena;
    for (int i = 0; i < memory->count; i++)
        free(memory->blocks[i]);
    free(memory->blocks);
    free(memory);
    assay_program_free(set->program);
    free(set);
}

/* ---- answers ---- */

/* The same, as the contract counts it: `any nan`, `any zero`. */
static bool agrees(const assay_value *v, uint64_t a, uint64_t b)
{
    if (a == b || v->type.kind != ASSAY_T_FORMAT || (!v->any_nan && !v->any_zero))
        return a == b;
    assay_class x = assay_decode(v->type.format, a).class_, y = assay_decode(v->type.format, b).class_;
    return x == y && ((v->any_nan && x == ASSAY_CLASS_NAN) || (v->any_zero && x == ASSAY_CLASS_ZERO));
}

/* Compares two answers of one output: codes where it is judged, and what is judged. */
static int confirm_output(const assay_vector_set *set, int n, int output, const assay_grid *fast,
                          assay_error *error)
{
    const assay_case *c = &set->cases[n];
    const assay_value *v = &set->program->values[set->program->outputs[output]];
    const assay_grid *exact = &c->outputs[output];
    int storage = assay_type_storage(v->type);
    for (int64_t i = 0; i < exact->rows * exact->cols; i++) {
        uint64_t a = grid_get(exact, storage, i), b = grid_get(fast, storage, i);
        if (exact->marks[i] == fast->marks[i] && (exact->marks[i] || agrees(v, a, b)))
            continue;
        return assay_fail(error, "%s, class %s, case %d (%s): output %s at (%" PRId64 ", %" PRId64
                          "): the exact evaluator says 0x%" PRIx64 "%s, the fast one 0x%" PRIx64 "%s: "
                          "one of them is wrong; please report it", set->recipe, set->class_, n,
                          c->tag, v->name, i / exact->cols, i % exact->cols, a,
                          exact->marks[i] ? " (not judged)" : "", b,
                          fast->marks[i] ? " (not judged)" : "");
    }
    return 0;
}

static int confirm(const assay_vector_set *set, int n, const assay_fast *fast, assay_error *error)
{
    const assay_program *p = set->program;
    const assay_case *c = &set->cases[n];
    assay_grid *out = calloc((size_t)p->output_count + 1, sizeof *out);
    int failed = out ? 0 : assay_fail(error, "out of memory");
    for (int i = 0; i < p->output_count && !failed; i++) {
        size_t count = (size_t)(c->outputs[i].rows * c->outputs[i].cols);
        out[i] = c->outputs[i];
        out[i].data = calloc(count + 1, (size_t)assay_type_storage(p->values[p->outputs[i]].type));
        out[i].marks = calloc(count + 1, 1);
        if (!out[i].data || !out[i].marks)
            failed = assay_fail(error, "out of memory");
    }
    if (!failed)
        failed = assay_fast_eval(fast, c->m, c->k, c->inputs, out, error);
    for (int i = 0; i < p->output_count && !failed; i++)
        failed = confirm_output(set, n, i, &out[i], error);
    for (int i = 0; out && i < p->output_count; i++) {
        free(out[i].data);
        free(out[i].marks);
    }
    free(out);
    return failed;
}

static int answer_all(assay_vector_set *set, const assay_fast *fast, assay_error *error)
{
    for (int n = 0; n < set->case_count; n++) {
        assay_case *c = &set->cases[n];
        bool large = c->m > 0 && c->k > EXACT_LIMIT / c->m;
        assay_error why = {""};
        int failed = large ? assay_fast_eval(fast, c->m, c->k, c->inputs, c->outputs, &why)
                           : assay_exact_eval(set->program, c->m, c->k, c->inputs, c->outputs, &why);
        if (failed)
            return assay_fail(error, "%s, class %s, case %d (%s, %" PRId64 "x%" PRId64 "): %s",
                              set->recipe, set->class_, n, c->tag, c->m, c->k, why.message);
        if (!large && confirm(set, n, fast, error))
            return -1;
    }
    return 0;
}

int assay_vectors_answer(assay_vector_set *set, assay_error *error)
{
    assay_fast *fast = assay_fast_compile(set->program, error);
    if (!fast)
        return -1;
    int failed = answer_all(set, fast, error);
    assay_fast_free(fast);
    return failed;
}

/* ---- making ---- */

assay_vector_set *assay_vectors_make(assay_program *p, const char *class_, uint64_t seed,
                                     assay_error *error)
{
    const assay_class_row *row = assay_class_find(class_);
    if (!row) {
        assay_program_free(p);
        assay_fail(error, "there is no class '%s'", class_);
        return NULL;
    }
    assay_vector_set *set = vectors_empty(p, class_, seed, error);
    if (!set)
        return NULL;
    if (row->applies(p) && (row->generate(set, error) || assay_vectors_answer(set, error))) {
        assay_vectors_free(set);
        return NULL;
    }
    return set;
}

assay_vector_set *assay_vectors_from_tensor(assay_program *p, const char *tag, int64_t m, int64_t k,
                                            const void *data, uint64_t seed, assay_error *error)
{
    const char *why = "";
    const assay_value *x = vectors_main(p);
    if (!x || !assay_program_admits(p, m, k, &why)) {
        assay_fail(error, "%s: %" PRId64 " x %" PRId64 " is not what %s admits: %s", tag, m, k, p->name,
                   x ? why : "it has no input with one value an element");
        assay_program_free(p);
        return NULL;
    }
    assay_vector_set *set = vectors_empty(p, "real", seed, error);
    if (!set)
        return NULL;
    vectors_rng r = vectors_rng_of(seed, "real");
    assay_case *c = vectors_add_case(set, tag, m, k);
    memcpy(c->inputs[vectors_main_index(p)].data, data,
           (size_t)(m * k) * (size_t)assay_type_storage(x->type));
    vectors_fill_further(c, p, 0, &r);
    if (assay_vectors_answer(set, error)) {
        assay_vectors_free(set);
        return NULL;
    }
    return set;
}
