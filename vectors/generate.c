#include "generate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/convert.h"
#include "set_memory.h"

/* ---- memory ---- */

void *vectors_alloc(assay_vector_set *set, size_t size)
{
    set_memory *memory = set->arena;
    if (memory->count == memory->capacity) {
        memory->capacity = memory->capacity ? 2 * memory->capacity : 64;
        memory->blocks = realloc(memory->blocks, (size_t)memory->capacity * sizeof *memory->blocks);
    }
    void *block = calloc(1, size ? size : 1);
    if (!memory->blocks || !block) {
        fputs("assay: out of memory\n", stderr);
        abort();
    }
    memory->blocks[memory->count++] = block;
    return block;
}

char *vectors_text(assay_vector_set *set, const char *format, ...)
{
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    char *text = vectors_alloc(set, strlen(buffer) + 1);
    strcpy(text, buffer);
    return text;
}

static assay_grid *make_grids(assay_vector_set *set, const int *values, int n, int64_t m, int64_t k,
                              bool marks)
{
    assay_grid *grids = vectors_alloc(set, (size_t)n * sizeof *grids);
    for (int i = 0; i < n; i++) {
        const assay_value *v = &set->program->values[values[i]];
        assay_value_shape(v, m, k, &grids[i].rows, &grids[i].cols);
        size_t count = (size_t)(grids[i].rows * grids[i].cols);
        grids[i].data = vectors_alloc(set, count * (size_t)assay_type_storage(v->type));
        if (marks)
            grids[i].marks = vectors_alloc(set, count);
    }
    return grids;
}

assay_case *vectors_add_case(assay_vector_set *set, const char *tag, int64_t m, int64_t k)
{
    set_memory *memory = set->arena;
    const assay_program *p = set->program;
    if (!assay_program_admits(p, m, k, NULL))
        return NULL;
    if (set->case_count == memory->case_capacity) {
        memory->case_capacity = memory->case_capacity ? 2 * memory->case_capacity : 32;
        assay_case *grown = vectors_alloc(set, (size_t)memory->case_capacity * sizeof *grown);
        if (set->case_count)
            memcpy(grown, set->cases, (size_t)set->case_count * sizeof *grown);
        set->cases = grown;
    }
    assay_case *c = &set->cases[set->case_count++];
    *c = (assay_case){.tag = vectors_text(set, "%s", tag), .m = m, .k = k};
    c->inputs = make_grids(set, p->inputs, p->input_count, m, k, false);
    c->outputs = make_grids(set, p->outputs, p->output_count, m, k, true);
    return c;
}

/* ---- random integers ---- */

vectors_rng vectors_rng_of(uint64_t seed, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
    return (vectors_rng){hash ^ seed * 0x9e3779b97f4a7c15u};
}

uint64_t vectors_next(vectors_rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t vectors_below(vectors_rng *r, uint64_t n)
{
    return (vectors_next(r) >> 32) * n >> 32;
}

/* ---- codes ---- */

uint64_t grid_get(const assay_grid *g, int storage, int64_t i)
{
    uint64_t code = 0;
    memcpy(&code, (const char *)g->data + i * storage, (size_t)storage);
    return code;
}

void grid_set(assay_grid *g, int storage, int64_t i, uint64_t code)
{
    memcpy((char *)g->data + i * storage, &code, (size_t)storage);
}

const assay_value *vectors_main(const assay_program *p)
{
    return p->main_input < 0 ? NULL : &p->values[p->main_input];
}

int vectors_main_index(const assay_program *p)
{
    for (int i = 0; i < p->input_count; i++)
        if (p->inputs[i] == p->main_input)
            return i;
    return -1;
}

bool vectors_encodes(const assay_program *p)
{
    const assay_value *v = vectors_main(p);
    return v && v->type.kind == ASSAY_T_FORMAT && assay_format_width(v->type.format) >= 16;
}

uint64_t code_near(const assay_format *f, double value)
{
    uint64_t bits;
    assay_cast cast = assay_cast_default(f);
    cast.overflow = ASSAY_SAT;
    memcpy(&bits, &value, sizeof bits);
    return assay_convert_f64(f, bits, &cast, 0).code;
}

uint64_t code_make(const assay_format *f, bool negative, int exponent, uint64_t fraction)
{
    double v = ldexp((double)((uint64_t)1 << 52 | (fraction & (((uint64_t)1 << 52) - 1))),
                     exponent - 52);
    return code_near(f, negative ? -v : v);
}

uint64_t code_negate(const assay_format *f, uint64_t code)
{
    return f->kind == ASSAY_KIND_FLOAT && assay_format_has_negative_zero(f)
               ? code ^ assay_format_sign_bit(f)
               : code;
}

bool code_is_finite(const assay_format *f, uint64_t code)
{
    assay_class c = assay_decode(f, code).class_;
    return c != ASSAY_CLASS_INFINITY && c != ASSAY_CLASS_NAN;
}

uint64_t code_ordinary(const assay_format *f, vectors_rng *r)
{
    int width = assay_format_width(f);
    uint64_t a = vectors_next(r), b = vectors_next(r);
    if (width > 8)
        return code_make(f, a & 1, -(int)(a >> 1 & 3), b);
    uint64_t code = b >> (64 - width);
    return code_is_finite(f, code) ? code : assay_format_max_code(f);
}

uint64_t code_step(const assay_format *f, uint64_t code, int64_t steps)
{
    int64_t top = assay_ordinal(f, assay_format_max_code(f));
    int64_t bottom = f->is_signed ? -top : assay_ordinal_min(f);
    int64_t o = assay_ordinal(f, code) + steps;
    return assay_ordinal_code(f, o > top ? top : o < bottom ? bottom : o);
}

static void add_special(special_value *list, int *n, const char *name, uint64_t code)
{
    for (int i = 0; i < *n; i++)
        if (list[i].code == code)
            return;
    if (*n < SPECIAL_VALUES)
        list[(*n)++] = (special_value){name, code};
}

/* Both signs of a value. */
static void add_both(const assay_format *f, special_value *list, int *n, const char *plus,
                     const char *minus, uint64_t code)
{
    add_special(list, n, plus, code);
    if (f->kind == ASSAY_KIND_FLOAT && f->is_signed)
        add_special(list, n, minus, code | assay_format_sign_bit(f));
}

int special_values(const assay_format *f, special_value *list)
{
    int n = 0;
    uint64_t max = assay_format_max_code(f), normal = (uint64_t)1 << f->mantissa_bits;
    if (f->kind == ASSAY_KIND_FLOAT) {
        add_special(list, &n, "+0", 0);
        if (assay_format_has_negative_zero(f))
            add_special(list, &n, "-0", assay_format_sign_bit(f));
        if (assay_format_has_subnormals(f)) {
            add_both(f, list, &n, "least", "-least", 1);
            add_special(list, &n, "largest subnormal", normal - 1);
        }
        add_special(list, &n, "least normal", normal);
        add_both(f, list, &n, "one", "-one", code_near(f, 1));
        add_both(f, list, &n, "max", "-max", max);
        if (assay_format_has_inf(f)) {
            add_special(list, &n, "inf", assay_format_inf_code(f, false));
            if (f->is_signed)
                add_special(list, &n, "-inf", assay_format_inf_code(f, true));
        }
    } else {
        add_special(list, &n, "code 0", 0);
        add_special(list, &n, "code 1", 1);
        add_special(list, &n, "one", code_near(f, 1));
        add_special(list, &n, "max", max);
        add_special(list, &n, "all ones", (UINT64_MAX >> (64 - assay_format_width(f))));
    }
    if (assay_format_has_nan(f))
        add_special(list, &n, "nan", assay_format_nan_code(f));
    if (f->specials == ASSAY_SPECIAL_IEEE) {
        uint64_t inf = assay_format_inf_code(f, false), sign = assay_format_sign_bit(f);
        add_special(list, &n, "-nan", assay_format_nan_code(f) | sign);
        add_special(list, &n, "signalling nan", inf | 1);
        add_special(list, &n, "-nan, all ones", inf | (normal - 1) | sign);
    }
    if (f->specials == ASSAY_SPECIAL_FN && f->is_signed)
        add_special(list, &n, "-nan", assay_format_nan_code(f) | assay_format_sign_bit(f));
    return n;
}
