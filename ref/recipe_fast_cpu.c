/* Which set of kernels this machine runs, and whether it computes as it must. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "recipe_fast.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must be done in float");

#define FAST_ONE(name) +1
enum {
    FLOATS = 0 FAST_FLOAT(FAST_ONE),
    INTEGERS = FLOATS FAST_INTEGER(FAST_ONE),
    CASTS = INTEGERS FAST_CASTS(FAST_ONE),
    ALL = CASTS FAST_REDUCTIONS(FAST_ONE)
};
_Static_assert((int)ALL == (int)FAST_KERNEL_COUNT, "one list");

static const fast_kernel_set base = {fast_floats_base, fast_integers_base, fast_casts_base,
                                     fast_reductions_base};
#ifdef ASSAY_FAST_V3
static const fast_kernel_set v3 = {fast_floats_v3, fast_integers_v3, fast_casts_v3,
                                   fast_reductions_v3};
#endif

bool fast_machine_has_v3(void)
{
#ifdef ASSAY_FAST_V3
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

static fast_kernel kernel_of(const fast_kernel_set *set, fast_kernel_id id)
{
    if ((int)id < FLOATS)
        return set->floats[id];
    if ((int)id < INTEGERS)
        return set->integers[(int)id - FLOATS];
    if ((int)id < CASTS)
        return set->casts[(int)id - INTEGERS];
    return set->reductions[(int)id - CASTS];
}

fast_kernel fast_kernel_for(const assay_fast *f, fast_kernel_id id)
{
#ifdef ASSAY_FAST_V3
    if (!f->baseline && fast_machine_has_v3())
        return kernel_of(&v3, id);
#endif
    (void)f;
    return kernel_of(&base, id);
}

/* One f32 operation on one value through its kernel, given and answered as bits. */
static uint32_t by_kernel(fast_kernel_id id, uint32_t a, uint32_t b, uint32_t c)
{
    const assay_fast f = {.baseline = false};
    uint32_t d = 0;
    fast_params p;
    memset(&p, 0, sizeof p);
    fast_args g = {.d = &d, .s = {&a, &b, &c}, .n = 1, .p = &p, .rows = 1, .cols = 1};
    fast_kernel_for(&f, id)(&g);
    return d;
}

int assay_fast_selftest(assay_error *error)
{
    static const struct {
        const char *what;
        fast_kernel_id id;
        uint32_t a, b, c, right;
    } checks[] = {
        {"a subnormal product (flush to zero is on)", FAST_K_MUL_32, 0x00800000, 0x3F000000, 0,
         0x00400000},
        {"a subnormal operand (denormals are zeros)", FAST_K_MUL_32, 0x00400000, 0x40000000, 0,
         0x00800000},
        {"a subnormal difference (flush to zero is on)", FAST_K_SUB_32, 0x00800001, 0x00800000, 0,
         0x00000001},
        {"1 + 2^-24 (rounding up)", FAST_K_ADD_32, 0x3F800000, 0x33800000, 0, 0x3F800000},
        {"1 + 3 * 2^-24 (rounding down or toward zero)", FAST_K_ADD_32, 0x3F800000, 0x34400000, 0,
         0x3F800002},
        {"-1 / 3 (rounding up)", FAST_K_DIV_32, 0xBF800000, 0x40400000, 0, 0xBEAAAAAB},
        {"sqrt(2) (not correctly rounded)", FAST_K_SQRT_32, 0x40000000, 0, 0, 0x3FB504F3},
        {"fma(1 + 2^-12, 1 + 2^-12, -1 - 2^-11) (not fused)", FAST_K_FMA_32, 0x3F800800, 0x3F800800,
         0xBF801000, 0x33800000},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        uint32_t got = by_kernel(checks[i].id, checks[i].a, checks[i].b, checks[i].c);
        if (got != checks[i].right)
            return assay_fail(error, "this build or this thread does not compute as IEEE 754 asks: "
                              "%s gives %08x, not %08x: build with the flags of ref/fast.mk",
                              checks[i].what, (unsigned)got, (unsigned)checks[i].right);
    }
    volatile float a = 0x1.001p0f, c = -0x1.002p0f; /* a * a + c: contracted it is 2^-24 */
    if (a * a + c != 0)
        return assay_fail(error, "this build contracts a * b + c: build with -ffp-contract=off");
    return 0;
}
