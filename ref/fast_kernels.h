/* The kernels of the fast evaluator: loops over columns of values, nothing else.
 *
 * ref/fast_kernels_*.c are compiled twice on x86-64 (for the baseline and for x86-64-v3, see
 * ref/fast.mk), each time into tables of functions; recipe_fast_cpu.c picks at run time. A kernel
 * reads registers (arrays of lanes of 1, 2, 4 or 8 bytes) and writes one; it knows no recipe.
 * Booleans are masks of 4 bytes, 0 or all ones. */
#ifndef ASSAY_FAST_KERNELS_H
#define ASSAY_FAST_KERNELS_H

#include <stdint.h>

/* Registers are raw memory seen as floats by one kernel and as bits by the next. */
typedef uint8_t fast_u8 __attribute__((may_alias));
typedef uint16_t fast_u16 __attribute__((may_alias));
typedef uint32_t fast_u32 __attribute__((may_alias));
typedef uint64_t fast_u64 __attribute__((may_alias));
typedef int32_t fast_i32 __attribute__((may_alias));
typedef int64_t fast_i64 __attribute__((may_alias));
typedef float fast_f32 __attribute__((may_alias));
typedef double fast_f64 __attribute__((may_alias));

/* A cast from f32 to a float format of at most 22 fraction bits, as numbers. Magnitude codes count
 * on beyond the format's largest as if exponents had no bound; then the range is judged. */
typedef struct {
    uint32_t fraction_bits;  /* m of the target */
    uint32_t drop;           /* 23 - m */
    uint32_t emin;           /* biased f32 exponent of the target's least normal, >= 1 */
    uint32_t rebias;         /* (emin - 1) << m: f32 magnitude >> drop minus this is the code */
    uint32_t least_normal;   /* f32 bits of it */
    uint32_t magic;          /* f32 bits of 2^23 times the target's least positive value */
    uint32_t max;            /* largest magnitude code */
    uint32_t over[2];        /* magnitude code for finite overflow, by sign */
    uint32_t infinity;       /* magnitude code for an infinity */
    uint32_t nan;            /* whole code for a NaN */
    uint32_t nan_sign;       /* sign bit if the NaN's sign is kept, else 0 */
    uint32_t sign;           /* the target's sign bit, or 0 */
    uint32_t zero_sign;      /* the same if the target has a -0, else 0 */
    uint32_t flush_below;    /* magnitude codes below become 0 (ftz); else 0 */
    /* The general kernel: a value goes up iff its discarded bits exceed a threshold. */
    uint32_t half_mask, even_mask, odd_mask, threshold[2];
    uint32_t random_bits;    /* stochastic: n, 1..32 */
} fast_cast;

typedef union {
    uint64_t word[12];
    fast_cast cast;
} fast_params;

typedef struct {
    void *d;
    const void *s[4];
    int64_t n;              /* values in d */
    const fast_params *p;
    /* Grids, for kernels that look at more than one lane: d has rows x cols values, s[0] (and s[1]
     * of a dot product) source_rows x source_cols; value (i, j) of the coarser grid stands over
     * (or is spread to) down x across values of the finer one, as far as they exist. */
    int64_t rows, cols, source_rows, source_cols, down, across;
    int64_t row0, col0;     /* coordinates of d's first value in the whole matrix's grid */
} fast_args;

typedef void (*fast_kernel)(const fast_args *);

/* Float lanes. Suffix: lane bits. */
#define FAST_FLOAT(X)                                                                              \
    X(ADD_32) X(ADD_64) X(SUB_32) X(SUB_64) X(MUL_32) X(MUL_64) X(DIV_32) X(DIV_64)                \
    X(FMA_32) X(FMA_64) X(SQRT_32) X(SQRT_64)                                                      \
    X(RINT_EVEN_32) X(RINT_EVEN_64) X(RINT_AWAY_32) X(RINT_AWAY_64) X(RINT_ZERO_32)                \
    X(RINT_ZERO_64) X(RINT_UP_32) X(RINT_UP_64) X(RINT_DOWN_32) X(RINT_DOWN_64)                    \
    X(MIN_32) X(MIN_64) X(MAX_32) X(MAX_64) X(CLAMP_32) X(CLAMP_64) X(FLUSH_32) X(FLUSH_64)        \
    X(CANON_32) X(CANON_64) X(ISNAN_32) X(ISNAN_64) X(ISINF_32) X(ISINF_64)                        \
    X(EQ_F32) X(EQ_F64) X(NE_F32) X(NE_F64) X(LT_F32) X(LT_F64) X(LE_F32) X(LE_F64)                \
    X(EXPONENT_32) X(EXPONENT_64) X(LDEXP_32) X(POW2_32) X(FTZ_MUL_32) X(FTZ_ADD_32)               \
    X(F32_TO_F64) X(F64_TO_F32) X(F32_TO_U32) X(F32_TO_I32) X(F32_TO_U64) X(F64_TO_U32)            \
    X(F64_TO_I32) X(F64_TO_U64) X(U32_TO_F32) X(I32_TO_F32) X(U64_TO_F32) X(U32_TO_F64)            \
    X(I32_TO_F64) X(U64_TO_F64) X(MUL_RUNS_32) X(MIN_WORD_32) X(MAX_WORD_32) X(F64_TO_ODD_F32) \
    X(EXP_32) X(LOG2_32)

/* Integer lanes and bits. */
#define FAST_INTEGER(X)                                                                            \
    X(IADD_32) X(IADD_64) X(ISUB_32) X(ISUB_64) X(IMUL_32) X(IMUL_64)                              \
    X(IDIV_U32) X(IDIV_I32) X(IDIV_U64) X(IMOD_U32) X(IMOD_I32) X(IMOD_U64)                        \
    X(AND_32) X(AND_64) X(OR_32) X(OR_64) X(XOR_32) X(XOR_64) X(AND_NOT_32)                        \
    X(SHL_32) X(SHL_64) X(SHR_U32) X(SHR_I32) X(SHR_U64)                                           \
    X(MIN_U32) X(MIN_I32) X(MIN_U64) X(MAX_U32) X(MAX_I32) X(MAX_U64) X(MAX_U16)                   \
    X(EQ_32) X(EQ_64) X(LT_U32) X(LT_I32) X(LT_U64) X(LE_U32) X(LE_I32) X(LE_U64)                  \
    X(SELECT_8) X(SELECT_16) X(SELECT_32) X(SELECT_64)                                             \
    X(AND_WORD_8) X(AND_WORD_16) X(AND_WORD_32) X(AND_WORD_64) X(XOR_WORD_16) X(XOR_WORD_32)       \
    X(XOR_WORD_64) X(SHR_WORD_64) X(COPYSIGN_16) X(COPYSIGN_32) X(COPYSIGN_64)                     \
    X(TEST_16) X(TEST_32) X(TEST_64)                                                               \
    X(ZEXT_8_32) X(ZEXT_16_32) X(ZEXT_32_64) X(SEXT_32_64) X(TRUNC_64_32) X(TRUNC_32_16)           \
    X(TRUNC_32_8) X(MASK_TO_8) X(BYTE_TO_MASK) X(PHILOX)                                           \
    X(ROW_64) X(COL_64)

/* Casts and decodes. */
#define FAST_CASTS(X)                                                                              \
    X(EVEN_8) X(EVEN_16) X(EVEN_32) X(LIMIT_8) X(LIMIT_16) X(LIMIT_32)                             \
    X(AWAY_8) X(TIES_ZERO_8) X(MODE_8) X(MODE_16) X(MODE_32)                                                             \
    X(STOCHASTIC_8) X(STOCHASTIC_16) X(STOCHASTIC_32) X(POWER_8) X(INTEGER_8)                                  \
    X(BF16_TO_F32) X(F16_TO_F32) X(TF32_TO_F32) X(TABLE_8) X(TABLE_16)

/* Across lanes. */
#define FAST_REDUCTIONS(X)                                                                         \
    X(SPREAD_8) X(SPREAD_16) X(SPREAD_32) X(SPREAD_64)                                             \
    X(AMAX_16) X(AMAX_32) X(AMAX_64) X(AMAX_NAN_16) X(AMAX_NAN_32) X(AMAX_NAN_64)                  \
    X(FOLD_MAX_F32) X(FOLD_MIN_F32) X(FOLD_MAX_F64) X(FOLD_MIN_F64)                                \
    X(FOLD_MAX_U32) X(FOLD_MIN_U32) X(FOLD_MAX_I32) X(FOLD_MIN_I32) X(FOLD_MAX_U64)                \
    X(FOLD_MIN_U64) X(FOLD_ANY) X(FOLD_ALL) X(FOLD_COUNT) X(FOLD_SEQ_32) X(FOLD_SEQ_64)            \
    X(FOLD_DOT_32) X(FOLD_DOT_64) X(HADAMARD_32)

#define FAST_ID(name) FAST_K_##name,
typedef enum {
    FAST_FLOAT(FAST_ID) FAST_INTEGER(FAST_ID) FAST_CASTS(FAST_ID) FAST_REDUCTIONS(FAST_ID)
    FAST_KERNEL_COUNT
} fast_kernel_id;
#undef FAST_ID

/* One set for each instruction set: four tables in the order of the lists above. */
typedef struct {
    const fast_kernel *floats, *integers, *casts, *reductions;
} fast_kernel_set;

#define FAST_JOIN2(a, b) a##b
#define FAST_JOIN(a, b) FAST_JOIN2(a, b)
/* FAST_ISA is given by ref/fast.mk: _base or _v3. */
#define FAST_TABLE(name) FAST_JOIN(fast_##name, FAST_ISA)
#define FAST_ENTRY(name) name,

extern const fast_kernel fast_floats_base[], fast_integers_base[], fast_casts_base[],
    fast_reductions_base[];
extern const fast_kernel fast_floats_v3[], fast_integers_v3[], fast_casts_v3[],
    fast_reductions_v3[];

/* One run of n values, by exact sums (recipe_fast_sum.c): what HADAMARD_32 leaves to integers. */
void fast_hadamard_run(double *v, int n, uint32_t mask);

/* Correctly rounded, for arguments that the column kernels do not decide (recipe_fast_function.c). */
float fast_exp_one(float v), fast_log2_one(float v);

/* Values must not depend on how this is compiled. */
#ifdef __FAST_MATH__
#error "the fast evaluator must not be built with -ffast-math"
#endif

#endif
