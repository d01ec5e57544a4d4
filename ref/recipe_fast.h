/* Private to recipe_fast*.c: the compiled form of a program.
 *
 *   assay_program --lower--> nodes --schedule--> passes of instructions --run--> outputs
 *
 * A node is one column operation with one value for each tile of its tiling, which is the coarsest
 * tiling that its operands allow: a product of two tensor scales inside an element section is made
 * once. Marks (LANGUAGE.md 11) are boolean nodes like any other. Equal nodes are merged.
 *
 * Nodes whose tiles span all rows (tensor, column) are *global*: they are kept for the whole matrix
 * and made between passes. All others are *local*: made anew in each pass that needs them, a strip
 * (some rows, some columns) at a time, in registers. A global reduction of local values takes a
 * pass; what depends on it comes in the next one. */
#ifndef ASSAY_RECIPE_FAST_H
#define ASSAY_RECIPE_FAST_H

#include <pthread.h>

#include "fast_kernels.h"
#include "recipe_eval.h"

typedef enum {
    FAST_COMPUTE,    /* kernel, all operands on this node's tiling */
    FAST_CONSTANT,   /* params.word[0] */
    FAST_LOAD,       /* an input's codes as they are stored */
    FAST_COORDINATE, /* kernel ROW_64 or COL_64 */
    FAST_SPREAD,     /* operand on a coarser tiling */
    FAST_RUNS,       /* the first operand on this tiling, the second on a coarser one */
    FAST_REDUCE,     /* operand(s) on a finer tiling */
    FAST_COLLECT,    /* global: a local operand on its own tiling, for the whole matrix */
    FAST_GATHER,     /* at: an input's code at (row, column) = operands, u64 */
    FAST_TRANSFORM   /* hadamard, rotate: along runs of elements */
} fast_kind;

/* Bytes of a lane are 1 << lane. Booleans take 4 bytes: 0 or all ones. */
enum { FAST_LANE_8, FAST_LANE_16, FAST_LANE_32, FAST_LANE_64 };

typedef struct {
    fast_kind kind;
    uint8_t lane;
    bool global;
    assay_tile tile;
    int argc, arg[4];
    fast_kernel kernel;
    fast_kernel combine;  /* global REDUCE of a local operand: joins two partial results */
    fast_params params;   /* REDUCE: word[0] is also what the reduction of nothing gives */
    int value;            /* LOAD, GATHER, rotate: index into program->values; else -1 */
    assay_tile run;       /* TRANSFORM */
    int ready;            /* local: the first pass that can make it; global: made before that pass */
} fast_node;

/* One step of a pass over a strip. */
typedef struct {
    int node;
    int slot;      /* register; -1 for a REDUCE into a global (its register is temporary) */
    bool pinned;   /* the same for all strips of a band: filled once */
    int output;    /* index into outputs that may be written in place, or -1 */
} fast_step;

typedef struct {
    fast_step *steps;
    int step_count;
    int *slot_node;  /* a node that determines tiling and lane of each register */
    int slot_count;
} fast_pass;

typedef struct {
    int value, node, mark; /* mark: node or -1 */
} fast_output;

enum { FAST_TABLES = 16 };

struct assay_fast {
    const assay_program *program; /* must outlive this */
    bool baseline;                /* the kernels that any machine runs, for tests */
    fast_node *nodes;
    int node_count, node_capacity;
    int *hash;                    /* open addressing, node index or -1 */
    int hash_size;
    int *value_node, *value_mark, *pending_mark; /* by value; -1: none */
    fast_output *outputs;
    int output_count;
    fast_pass *passes;
    int pass_count;
    int *globals;                 /* needed global nodes, in order of evaluation */
    int global_count;
    int64_t unit_rows, unit_cols; /* strips are multiples of these; unit_cols 0: whole rows */
    int64_t pad_rows, pad_cols;   /* the matrix is extended to multiples of these */
    bool single_band;             /* `at` reads rows of another band */
    bool out_of_memory;
    void **blocks;                /* tables and parameters of nodes */
    int block_count;
    struct {
        const assay_format *format;
        const uint32_t *table;    /* its codes as f32 bits */
    } tables[FAST_TABLES];
    int table_count;
};

/* ---- recipe_fast_cpu.c ---- */
fast_kernel fast_kernel_for(const assay_fast *f, fast_kernel_id id);
bool fast_machine_has_v3(void);

/* ---- recipe_fast_node.c: making nodes ---- */
int fast_add(assay_fast *f, const fast_node *n); /* merges equal nodes; -1 when out of memory */
int fast_constant(assay_fast *f, uint8_t lane, uint64_t bits);
int fast_on_tile(assay_fast *f, int node, assay_tile tile);
assay_tile fast_common_tile(assay_tile a, assay_tile b);
fast_params fast_word(uint64_t word);
int fast_compute(assay_fast *f, fast_kernel k, uint8_t lane, fast_params params, int argc,
                 const int *arg);
int fast_unary(assay_fast *f, fast_kernel_id k, uint8_t lane, int a);
int fast_unary_word(assay_fast *f, fast_kernel_id k, uint8_t lane, int a, uint64_t word);
int fast_binary(assay_fast *f, fast_kernel_id k, uint8_t lane, int a, int b);
int fast_scale(assay_fast *f, int a, int b); /* a * b in f32 */
int fast_select(assay_fast *f, uint8_t lane, int condition, int yes, int no);
int fast_load(assay_fast *f, int value);
void *fast_block(assay_fast *f, size_t size); /* zeroed; lives as long as f */

/* ---- recipe_fast_lower.c, _cast.c, _reduce.c, _mark.c ---- */
int fast_lower_program(assay_fast *f, assay_error *error);
int fast_lower(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_cast(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_reduce(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_transform(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_reduce_any(assay_fast *f, int node, assay_tile over, assay_tile tile);
int fast_mark(assay_fast *f, const assay_expr *e, assay_tile context); /* -1: never marked */
uint8_t fast_lane(assay_type t);
int fast_decode(assay_fast *f, int node, assay_type t); /* any format -> f32 (f64 stays) */
int fast_narrow(assay_fast *f, int node, const assay_format *to); /* exact f32 value -> its code */
int fast_canonical(assay_fast *f, int node, const assay_format *format, bool wanted);

/* ---- recipe_fast_run.c ---- */
assay_fast *fast_compile_baseline(const assay_program *p, bool baseline, assay_error *error);

/* ---- recipe_fast_schedule.c ---- */
int fast_schedule(assay_fast *f, assay_error *error);

/* ---- scalar kernels: operations too rare for columns ---- */
typedef struct { /* of soft arithmetic */
    uint8_t mode, ftz;
} fast_arith;
void fast_soft_add_32(const fast_args *g), fast_soft_sub_32(const fast_args *g),
    fast_soft_mul_32(const fast_args *g), fast_soft_div_32(const fast_args *g),
    fast_soft_fma_32(const fast_args *g), fast_soft_sqrt_32(const fast_args *g);
void fast_soft_add_64(const fast_args *g), fast_soft_sub_64(const fast_args *g),
    fast_soft_mul_64(const fast_args *g), fast_soft_div_64(const fast_args *g),
    fast_soft_fma_64(const fast_args *g), fast_soft_sqrt_64(const fast_args *g);
void fast_exp2_32(const fast_args *g), fast_exp_64(const fast_args *g),
    fast_exp2_64(const fast_args *g), fast_log2_64(const fast_args *g),
    fast_ldexp_64(const fast_args *g);
void fast_rcp_approx(const fast_args *g), fast_div_full_scale(const fast_args *g),
    fast_div_full_rcp(const fast_args *g);
void fast_sum_tree_32(const fast_args *g), fast_sum_tree_64(const fast_args *g),
    fast_sum_pairs_32(const fast_args *g), fast_sum_pairs_64(const fast_args *g),
    fast_sum_exact_32(const fast_args *g), fast_sum_exact_64(const fast_args *g),
    fast_dot_exact_32(const fast_args *g), fast_dot_exact_64(const fast_args *g);
/* word[0]: address of a fast_scalar_cast; s[1]: u64 random bits, if stochastic. */
typedef struct {
    const assay_format *to;
    assay_cast cast;
} fast_scalar_cast;
void fast_cast_f32(const fast_args *g), fast_cast_f64(const fast_args *g),
    fast_cast_u64(const fast_args *g), fast_cast_i32(const fast_args *g);
/* word[0]: address of a fast_source. */
typedef struct {
    const void *data; /* NULL: all 0 */
    int64_t rows, cols;
    int storage;
} fast_source;
void fast_gather(const fast_args *g);
/* word[0]: address of the table's fast_source, word[3]: the table's format. */
void fast_rotate_32(const fast_args *g);

/* ---- recipe_fast_soft.c: exact sums and roundings of f32 and f64 in integers ---- */
__extension__ typedef unsigned __int128 fast_u128;

typedef struct {
    int precision, emin, emax; /* 24, -126, 127 or 53, -1022, 1023 */
    uint8_t mode;
    bool ftz;
} fast_rounding;
/* (-1)^negative * (significand, and a bit more if sticky) * 2^exponent, rounded once, as f64 bits;
 * significand > 0, and of more than 54 bits if sticky. */
double fast_round(bool negative, fast_u128 significand, int exponent, bool sticky,
                  const fast_rounding *rounding);

/* Sums of any number of f64 and of products of two, exactly. */
enum { FAST_SUM_LIMBS = 144 };
typedef struct {
    int64_t limb[FAST_SUM_LIMBS]; /* digits of 32 bits with room for carries */
    int low, high;                /* limbs in use: low <= i < high */
    bool nan, plus_infinity, minus_infinity, any, only_minus_zero;
} fast_sum;
void fast_sum_start(fast_sum *s);
void fast_sum_add(fast_sum *s, double v);
void fast_sum_add_product(fast_sum *s, double a, double b);
double fast_sum_finish(fast_sum *s, const fast_rounding *rounding); /* NaN where IEEE has one */

#endif
