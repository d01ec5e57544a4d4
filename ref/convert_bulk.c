/* Bulk conversion of f32 to codes: the integer algorithm of ref/convert in 32-bit lanes without
 * branches, written so that compilers turn the loops into vector code. The loops are built for the
 * baseline and, on x86, for AVX2 (shifts by a different count in each lane), chosen at run time.
 *
 * A lane: `extended` is the magnitude code followed by `shift` discarded bits. Below the least
 * normal number it is the significand and the shift grows; from 25 on the value is below half of the
 * least code, so 25 stands for all. */
#include <assert.h>
#include <string.h>

#include "convert.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANE_FRACTION = 23, LANE_MAX_SHIFT = 25 };
#define LANE_INF 0x7F800000u
#define LANE_HIDDEN 0x00800000u

typedef enum {
    LANE_FLOAT,   /* quantum far above 2^-126: an f32 subnormal is below half of the least code */
    LANE_LINEAR,  /* exponent range of f32: bf16, tf32, f32 */
    LANE_POWER,   /* e8m0 */
    LANE_INTEGER
} lane_kind;

/* A format and a cast as a lane needs them. [0]: positive, [1]: negative. */
typedef struct {
    lane_kind kind;
    assay_mode mode;
    size_t storage;          /* bytes of a code */
    bool plain;              /* nearest-even; results beyond max, Inf too, are `over[0]` | sign */
    bool drops_sign_of_zero;
    uint32_t shift;          /* discarded bits of a normal number; integers: unused */
    uint32_t deepest;        /* shift = deepest - exponent field, below the least normal number */
    uint32_t least_normal;   /* f32 magnitude bits */
    uint32_t rebias;
    uint32_t max, flush_below, sign_shift, sign_mask, code_mask;
    uint32_t over[2], inf[2], nan[2];
} lane_plan;

static lane_kind kind_of(const assay_format *f)
{
    switch (f->kind) {
    case ASSAY_KIND_POWER:
        return LANE_POWER;
    case ASSAY_KIND_INTEGER:
        return LANE_INTEGER;
    case ASSAY_KIND_FLOAT:
        break;
    }
    return assay_format_emin(f) == -126 && f->is_signed ? LANE_LINEAR : LANE_FLOAT;
}

/* Does the lane arithmetic hold for this format? Others are converted one by one. */
static bool has_lanes(const assay_format *f)
{
    if (kind_of(f) == LANE_FLOAT)
        return assay_format_emin(f) - f->mantissa_bits >= -100;
    return f->mantissa_bits <= LANE_FRACTION;
}

static lane_plan make_plan(const assay_format *f, const assay_cast *cast)
{
    lane_plan p = {.kind = kind_of(f), .mode = cast->mode,
                   .storage = (size_t)assay_format_storage(f)};
    uint32_t emin_field = (uint32_t)(assay_format_emin(f) + 127);
    p.shift = (uint32_t)(LANE_FRACTION - f->mantissa_bits);
    p.deepest = p.shift + emin_field;
    p.least_normal = emin_field << LANE_FRACTION;
    p.rebias = (emin_field - 1) << LANE_FRACTION;
    if (p.kind == LANE_INTEGER)
        p.deepest = (uint32_t)(LANE_FRACTION + 127 - f->bias);
    if (p.shift == 0) /* f32 itself: nothing is ever discarded */
        p.mode = ASSAY_ZERO;
    p.max = (uint32_t)assay_format_max_code(f);
    p.flush_below = cast->ftz && f->kind == ASSAY_KIND_FLOAT ? 1u << f->mantissa_bits : 0;
    p.sign_mask = (uint32_t)assay_format_sign_bit(f);
    p.sign_shift = (uint32_t)assay_format_width(f) - 1;
    p.code_mask = (uint32_t)(((uint64_t)1 << assay_format_width(f)) - 1);
    p.drops_sign_of_zero = !assay_format_has_negative_zero(f);
    /* What the scalar conversion says of values that no format holds. */
    for (uint32_t negative = 0; negative < 2; negative++) {
        uint32_t sign = negative << 31;
        p.inf[negative] = (uint32_t)assay_convert_f32(f, sign | LANE_INF, cast, 0).code;
        p.nan[negative] = (uint32_t)assay_convert_f32(f, sign | LANE_INF | 1, cast, 0).code;
        /* 2^1000: a finite value beyond every max but f64's */
        uint64_t huge = (uint64_t)negative << 63 | (uint64_t)2023 << 52;
        p.over[negative] = (uint32_t)assay_convert_f64(f, huge, cast, 0).code;
    }
    bool narrow_float = p.kind == LANE_FLOAT || (p.kind == LANE_LINEAR && p.storage == 2);
    p.plain = cast->mode == ASSAY_EVEN && narrow_float && !p.flush_below &&
              p.inf[0] == p.over[0] && p.inf[1] == p.over[1] &&
              p.over[1] == (p.over[0] | p.sign_mask);
    return p;
}

/* Added to the extended code before its low `shift` >= 1 bits are cut off. */
INLINE uint32_t lane_addend(assay_mode mode, bool power, uint32_t negative, uint32_t extended,
                            uint32_t shift)
{
    uint32_t half = 1u << (shift - 1), all = 2 * half - 1;
    uint32_t last = extended >> shift & 1;
    switch (mode) {
    case ASSAY_EVEN:
        return power ? half : half - 1 + last;
    case ASSAY_AWAY:
        return half;
    case ASSAY_TIES_ZERO:
        return half - 1;
    case ASSAY_UP:
        return negative ? 0 : all;
    case ASSAY_DOWN:
        return negative ? all : 0;
    case ASSAY_ODD:
        return last ? 0 : all;
    case ASSAY_ZERO:
    case ASSAY_STOCHASTIC:
        break;
    }
    return 0;
}

INLINE uint32_t lane_shift(const lane_plan *p, uint32_t field, uint32_t least)
{
    int32_t shift = (int32_t)(p->deepest - field);
    shift = shift > (int32_t)least ? shift : (int32_t)least;
    return (uint32_t)(shift < LANE_MAX_SHIFT ? shift : LANE_MAX_SHIFT);
}

/* The magnitude code of |x| = `a` as if the format had no largest value. */
INLINE uint32_t lane_magnitude(const lane_plan *p, lane_kind kind, assay_mode mode, uint32_t a,
                               uint32_t negative)
{
    uint32_t significand = (a & (LANE_HIDDEN - 1)) | LANE_HIDDEN;
    uint32_t extended = a, shift = p->shift;
    if (kind == LANE_FLOAT) {
        extended = a >= p->least_normal ? a - p->rebias : significand;
        shift = lane_shift(p, a >> LANE_FRACTION, p->shift);
    } else if (kind == LANE_INTEGER) {
        extended = significand;
        shift = lane_shift(p, a >> LANE_FRACTION, 1);
    } else if (kind == LANE_POWER) {
        /* 2^-127 .. 2^-126 are subnormals of f32, half a binade's codes apart */
        uint32_t floor = a > LANE_HIDDEN / 2 ? a - LANE_HIDDEN / 2 : 0;
        extended = a >= LANE_HIDDEN ? a : 2 * floor;
    }
    if (kind == LANE_LINEAR && mode == ASSAY_ZERO)
        return extended >> shift; /* also for no shift at all */
    if (mode != ASSAY_EVEN && (kind == LANE_FLOAT || kind == LANE_INTEGER))
        extended = a == 0 ? 0 : extended;
    return (extended + lane_addend(mode, kind == LANE_POWER, negative, extended, shift)) >> shift;
}

/* The value of a pair for this sign. Both are read, so that the loop has no branch. */
INLINE uint32_t signed_pick(const uint32_t pair[2], uint32_t negative)
{
    uint32_t if_positive = pair[0], if_negative = pair[1];
    return negative ? if_negative : if_positive;
}

INLINE uint32_t lane_plain(const lane_plan *p, lane_kind kind, bool drops_sign_of_zero, uint32_t x)
{
    uint32_t a = x & 0x7FFFFFFF, sign = x >> 31 << p->sign_shift & p->sign_mask;
    uint32_t q = lane_magnitude(p, kind, ASSAY_EVEN, a, 0);
    q = q > p->max ? p->over[0] : q;
    if (drops_sign_of_zero)
        sign = q == 0 ? 0 : sign;
    uint32_t nan = signed_pick(p->nan, x >> 31);
    return a > LANE_INF ? nan : q | sign;
}

INLINE uint32_t lane_full(const lane_plan *p, lane_kind kind, assay_mode mode, uint32_t x)
{
    uint32_t a = x & 0x7FFFFFFF, minus = x >> 31, negative = p->sign_mask ? minus : 0;
    uint32_t q = lane_magnitude(p, kind, mode, a, negative), code;
    uint32_t max = p->max, over = signed_pick(p->over, negative);
    uint32_t inf = signed_pick(p->inf, negative), nan = signed_pick(p->nan, minus);
    if (kind == LANE_INTEGER) {
        max += negative;
        code = ((q ^ (0 - negative)) + negative) & p->code_mask;
    } else {
        uint32_t kept = q < p->flush_below ? 0 : q;
        uint32_t sign = negative << p->sign_shift, zero_sign = p->drops_sign_of_zero ? 0 : sign;
        code = kept | (kept == 0 ? zero_sign : sign);
    }
    code = q > max ? over : code;
    code = a == LANE_INF ? inf : code;
    return a > LANE_INF ? nan : code;
}

/* One loop for each (type of code, kind, mode): kind and mode are constants after inlining, and the
 * count is a multiple of a constant, so that a loop is its vector body alone. */
enum { BLOCK = 64 };

#define LOOP(type, expression)                                                                     \
    do {                                                                                           \
        type *restrict codes = to;                                                                 \
        for (size_t block = 0; block < blocks; block++, from += BLOCK, codes += BLOCK)             \
            for (size_t i = 0; i < BLOCK; i++)                                                     \
                codes[i] = (type)(expression);                                                     \
        return;                                                                                    \
    } while (0)

#define MODES(type, kind)                                                                          \
    do {                                                                                           \
        switch (p.mode) {                                                                          \
        case ASSAY_EVEN: LOOP(type, lane_full(&p, kind, ASSAY_EVEN, from[i]));                     \
        case ASSAY_AWAY: LOOP(type, lane_full(&p, kind, ASSAY_AWAY, from[i]));                     \
        case ASSAY_TIES_ZERO: LOOP(type, lane_full(&p, kind, ASSAY_TIES_ZERO, from[i]));           \
        case ASSAY_ZERO: LOOP(type, lane_full(&p, kind, ASSAY_ZERO, from[i]));                     \
        case ASSAY_UP: LOOP(type, lane_full(&p, kind, ASSAY_UP, from[i]));                         \
        case ASSAY_DOWN: LOOP(type, lane_full(&p, kind, ASSAY_DOWN, from[i]));                     \
        case ASSAY_ODD: LOOP(type, lane_full(&p, kind, ASSAY_ODD, from[i]));                       \
        case ASSAY_STOCHASTIC: return;                                                             \
        }                                                                                          \
    } while (0)

/* p by value: its fields stay in registers whatever `to` points at. */
INLINE void run(lane_plan p, const uint32_t *restrict from, void *restrict to, size_t blocks)
{
    if (p.plain && p.storage == 1 && p.drops_sign_of_zero)
        LOOP(uint8_t, lane_plain(&p, LANE_FLOAT, true, from[i]));
    if (p.plain && p.storage == 1)
        LOOP(uint8_t, lane_plain(&p, LANE_FLOAT, false, from[i]));
    if (p.plain && p.kind == LANE_FLOAT)
        LOOP(uint16_t, lane_plain(&p, LANE_FLOAT, false, from[i]));
    if (p.plain)
        LOOP(uint16_t, lane_plain(&p, LANE_LINEAR, false, from[i]));
    switch (p.kind) {
    case LANE_FLOAT:
        if (p.storage == 1)
            MODES(uint8_t, LANE_FLOAT);
        else
            MODES(uint16_t, LANE_FLOAT);
        break;
    case LANE_LINEAR:
        if (p.storage == 2)
            MODES(uint16_t, LANE_LINEAR);
        else
            MODES(uint32_t, LANE_LINEAR);
        break;
    case LANE_POWER:
        MODES(uint8_t, LANE_POWER);
        break;
    case LANE_INTEGER:
        MODES(uint8_t, LANE_INTEGER);
        break;
    }
}

static void run_baseline(lane_plan p, const uint32_t *from, void *to, size_t blocks)
{
    run(p, from, to, blocks);
}

#if defined(__x86_64__)
__attribute__((target("avx2,bmi2"))) static void run_avx2(lane_plan p, const uint32_t *from,
                                                          void *to, size_t blocks)
{
    run(p, from, to, blocks);
}
#endif

static void run_best(lane_plan p, const uint32_t *from, void *to, size_t blocks)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        run_avx2(p, from, to, blocks);
        return;
    }
#endif
    run_baseline(p, from, to, blocks);
}

static void convert_one_by_one(const assay_format *f, const assay_cast *cast, const uint32_t *from,
                               uint8_t *to, size_t n)
{
    size_t storage = (size_t)assay_format_storage(f);
    for (size_t i = 0; i < n; i++) {
        uint64_t code = assay_convert_f32(f, from[i], cast, 0).code;
        for (size_t b = 0; b < storage; b++)
            to[i * storage + b] = (uint8_t)(code >> 8 * b);
    }
}

void assay_convert_f32_array(const assay_format *f, const assay_cast *cast, const uint32_t *from,
                             void *to, size_t n)
{
    assert(cast->mode != ASSAY_STOCHASTIC);
    if (!has_lanes(f)) {
        convert_one_by_one(f, cast, from, to, n);
        return;
    }
    lane_plan p = make_plan(f, cast);
    size_t blocks = n / BLOCK, rest = n % BLOCK;
    run_best(p, from, to, blocks);
    if (rest) {
        uint32_t last[BLOCK] = {0}, codes[BLOCK];
        memcpy(last, from + blocks * BLOCK, rest * sizeof *last);
        run_best(p, last, codes, 1);
        memcpy((uint8_t *)to + blocks * BLOCK * p.storage, codes, rest * p.storage);
    }
}
