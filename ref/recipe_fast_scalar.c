/* Scalar kernels: gathers, and the casts that no column kernel covers (by ref/convert). */
#include "recipe_fast.h"

#include <math.h>
#include <string.h>

#include "convert.h"

static uint64_t read_code(const void *data, int storage, int64_t at)
{
    const uint8_t *p = (const uint8_t *)data + at * storage;
    uint64_t code = 0;
    memcpy(&code, p, (size_t)storage); /* little-endian, as grids are */
    return code;
}

static void write_code(void *data, int storage, int64_t at, uint64_t code)
{
    memcpy((uint8_t *)data + at * storage, &code, (size_t)storage);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "grids are little-endian");

void fast_gather(const fast_args *g)
{
    const fast_source *from = (const fast_source *)(uintptr_t)g->p->word[0];
    const fast_u64 *row = g->s[0], *col = g->s[1];
    for (int64_t i = 0; i < g->n; i++) {
        bool inside = from->data && row[i] < (uint64_t)from->rows && col[i] < (uint64_t)from->cols;
        uint64_t code = 0;
        if (inside)
            code = read_code(from->data, from->storage, (int64_t)row[i] * from->cols + (int64_t)col[i]);
        write_code(g->d, from->storage, i, code);
    }
}

static uint64_t cast_double(const assay_format *to, double v, const assay_cast *cast, uint64_t random)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return assay_convert_f64(to, bits, cast, random).code;
}

/* An integer of more than 53 bits, rounded to the target's precision by its random bits. The result
 * is exact in f64, so that the conversion proper has only the range left to judge. */
static double round_at_random(const assay_format *to, uint64_t v, const assay_cast *cast,
                              uint64_t random)
{
    int n = cast->random_bits, drop = 64 - __builtin_clzll(v) - assay_format_precision(to);
    if (drop <= 0)
        return (double)v;
    uint64_t dropped = v & (((uint64_t)1 << drop) - 1);
    uint64_t t = n >= drop ? dropped << (n - drop) : dropped >> (drop - n);
    uint64_t up = ((random & (((uint64_t)1 << n) - 1)) + t) >> n;
    return ldexp((double)((v >> drop) + up), drop);
}

/* (-1)^negative * v: exact as f64, or rounded to odd, which keeps what 24 bits or fewer need. */
static uint64_t cast_integer(const assay_format *to, bool negative, uint64_t v,
                             const assay_cast *cast, uint64_t random)
{
    double magnitude = (double)v;
    if (v >> 53 && cast->mode == ASSAY_STOCHASTIC && to->kind != ASSAY_KIND_INTEGER) {
        magnitude = round_at_random(to, v, cast, random);
    } else if (v >> 53 && assay_format_precision(to) > 24) {
        fast_rounding r = {.precision = 53, .emin = -1022, .emax = 1023,
                           .mode = (uint8_t)cast->mode};
        return cast_double(to, fast_round(negative, v, 0, false, &r), cast, random);
    } else if (v >> 53) {
        magnitude = ldexp((double)(v >> 11 | ((v & 0x7FF) != 0)), 11);
    }
    return cast_double(to, negative ? -magnitude : magnitude, cast, random);
}

#define CAST(NAME, T, CALL)                                                                        \
    void NAME(const fast_args *g)                                                                  \
    {                                                                                              \
        const fast_scalar_cast *c = (const fast_scalar_cast *)(uintptr_t)g->p->word[0];            \
        const T *a = g->s[0];                                                                      \
        /* An unused second source is the first one, of another width. */                          \
        const fast_u64 *random = c->cast.mode == ASSAY_STOCHASTIC ? g->s[1] : NULL;                \
        int storage = assay_format_storage(c->to);                                                 \
        for (int64_t i = 0; i < g->n; i++) {                                                       \
            T v = a[i];                                                                            \
            uint64_t r = random ? random[i] : 0;                                                   \
            write_code(g->d, storage, i, CALL);                                                    \
        }                                                                                          \
    }
CAST(fast_cast_f32, fast_u32, assay_convert_f32(c->to, v, &c->cast, r).code)
CAST(fast_cast_f64, fast_u64, assay_convert_f64(c->to, v, &c->cast, r).code)
CAST(fast_cast_u64, fast_u64, cast_integer(c->to, false, v, &c->cast, r))
CAST(fast_cast_i32, fast_i32,
     cast_integer(c->to, v < 0, v < 0 ? 0 - (uint64_t)(int64_t)v : (uint64_t)v, &c->cast, r))
