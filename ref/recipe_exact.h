/* Private to recipe_exact*.c and recipe_explain.c: one exact evaluation under way.
 *
 * Every value is kept as the code of its type. A float operation decodes its operands into MPFR
 * registers (exact), makes one MPFR call toward zero at ASSAY_EXACT_PRECISION bits, whose ternary
 * value is the sticky bit, and hands (value, sticky) to the one encoder in ref/round. There is no
 * native float arithmetic in these files. */
#ifndef ASSAY_RECIPE_EXACT_H
#define ASSAY_RECIPE_EXACT_H

#include "recipe_eval.h"

/* A value and its mark "not judged" (LANGUAGE.md 11). */
typedef struct {
    uint64_t bits; /* right-aligned, of the node's type */
    bool marked;
} exact_cell;

/* A tile: a tiling and coordinates in its grid. */
typedef struct {
    assay_tile tile;
    int64_t row, col;
} exact_spot;

/* One value of the program over the extended matrix. Inputs are read where the caller has them. */
typedef struct {
    int64_t rows, cols;
    int storage;                 /* bytes of one code */
    uint8_t *data;               /* owned; NULL for inputs */
    uint8_t *marks;              /* owned; NULL if the program marks nothing */
    const uint8_t *given;        /* inputs; NULL: all +0 */
    int64_t given_rows, given_cols;
} exact_store;

enum { EXACT_RUN_MAX = 32 }; /* longest run of hadamard and rotate */

/* The operands of the run that was transformed last: its n results share them. */
typedef struct {
    const assay_expr *expr; /* NULL: nothing kept */
    int64_t row, col;       /* first element of the run */
    int count;
    exact_cell cell[EXACT_RUN_MAX];
} exact_transform_cache;

typedef struct {
    const assay_program *program;
    int64_t m, k;            /* as declared */
    int64_t rows, cols;      /* extended by `pad` */
    exact_store *stores;     /* one for each value */
    uint8_t **conditions;    /* one for each statement; MARK: a bool for each tile of its section */
    int *mark_start;         /* marks of value v: mark_list[mark_start[v] .. mark_start[v+1]-1] */
    int *mark_list;          /* indexes of MARK statements */
    const int *choices;      /* for each approx: which of the 2n+1 values, -n..n; NULL: the middle */
    const assay_format *f32; /* the row; its canonical NaN is the recipe's own */
    mpfr_t a, b, c;          /* operands: any code of any format is exact in 64 bits */
    mpfr_t wide;             /* exact sums */
    assay_exact x;           /* what the encoder rounds */
    exact_transform_cache cache;
    bool out_of_memory;      /* somewhere inside: the results mean nothing */
    void (*see)(void *, const assay_seen *); /* explain; else NULL */
    void *see_context;
    const assay_statement *statement;
    int depth;
} exact_run;

/* ---- recipe_exact_run.c: memory, tiles, statements ---- */

/* Prepares an evaluation; 0, or -1 with `error` (and nothing to free). */
int exact_run_begin(exact_run *run, const assay_program *p, int64_t m, int64_t k,
                    const assay_grid *inputs, assay_error *error);
void exact_run_end(exact_run *run);

/* Index along one side of the outer tile that holds tile i of the inner tiling. */
static inline int64_t exact_outer_index(int64_t inner, int64_t i, int64_t outer)
{
    if (outer == 0 || inner == 0)
        return 0;
    return inner == outer ? i : i * inner / outer;
}

/* A value at the tile that contains `at`; with its marks. */
exact_cell exact_read(const exact_run *run, int value, const exact_spot *at);
/* A value at coordinates of its own grid; outside: 0. */
uint64_t exact_read_at(const exact_run *run, int value, int64_t row, int64_t col);
bool exact_is_marked(const exact_run *run, int value, int64_t row, int64_t col);

/* Elements covered: rows row .. row+rows-1 of the extended matrix, cols likewise. */
typedef struct {
    int64_t row, col, rows, cols;
} exact_region;
static inline exact_region exact_whole(const exact_run *run)
{
    return (exact_region){0, 0, run->rows, run->cols};
}
/* The elements of one tile. */
exact_region exact_tile_region(const exact_run *run, assay_tile tile, int64_t row, int64_t col);
/* Tiles of a tiling that lie in a region: first and end coordinates. The region must be a union
 * of tiles. */
typedef struct {
    int64_t row, row_end, col, col_end;
} exact_range;
exact_range exact_tiles(assay_tile tile, exact_region region);

/* One statement on all its tiles in a region. */
void exact_statement(exact_run *run, int statement, exact_region region);
/* All statements on the whole matrix; 0, or -1 and `error`. */
int exact_statements(exact_run *run, assay_error *error);
/* Copies an output, cropped to the grid of M x K. */
void exact_output(const exact_run *run, int value, const assay_grid *to);

/* ---- recipe_exact_node.c: one node, its arguments first ---- */
exact_cell exact_node(exact_run *run, const assay_expr *e, const exact_spot *at);

/* ---- recipe_exact_float.c ---- */

/* An operand as a number: a code and the format it is a code of. */
typedef struct {
    uint64_t bits;
    const assay_format *format; /* NULL: not a float */
} exact_operand;

/* The value of a code, exactly. */
void exact_load(mpfr_ptr to, const assay_format *f, uint64_t code);
uint64_t exact_nan(const exact_run *run, const assay_format *f); /* canonical */
bool exact_is_nan(const assay_format *f, uint64_t code);
bool exact_op_computes(assay_op op); /* reads its operands as numbers only: codes do not matter */
bool exact_op_rounds(assay_op op);   /* run->x is the value before rounding */
uint64_t exact_float_op(exact_run *run, const assay_expr *e, const exact_operand *args);
/* run->x, computed with this ternary value, rounded to nearest-even in f (f32 or f64). */
uint64_t exact_encode(exact_run *run, const assay_format *f, int ternary);
/* Operations on codes of f, each rounded once (select: not at all); codes come back. */
uint64_t exact_add(exact_run *run, const assay_format *f, uint64_t a, uint64_t b);
uint64_t exact_fma(exact_run *run, const assay_format *f, uint64_t a, uint64_t b, uint64_t c);
uint64_t exact_select(exact_run *run, const assay_format *f, bool maximum, uint64_t a, uint64_t b);
bool exact_compare(exact_run *run, assay_op op, const exact_operand *args);
uint64_t exact_cast(exact_run *run, const assay_expr *e, uint64_t bits, uint64_t random);

/* ---- recipe_exact_integer.c: bits of an integer type in, wrapped bits of one out ---- */
int64_t exact_signed(assay_type t, uint64_t bits);
bool exact_op_is_integer(assay_op op);
uint64_t exact_integer_op(const assay_expr *e, const uint64_t *args);
bool exact_compare_integers(assay_op op, assay_type t, uint64_t a, uint64_t b);
uint64_t exact_select_integer(assay_type t, bool maximum, uint64_t a, uint64_t b);
uint64_t exact_to_integer(exact_run *run, const assay_expr *e, uint64_t bits);
uint32_t exact_philox(uint64_t key, uint64_t lo, uint64_t hi, uint64_t word);

/* ---- recipe_exact_reduce.c: a reduction, a hadamard or rotate, for one tile ---- */
exact_cell exact_reduce(exact_run *run, const assay_expr *e, const exact_spot *at);
exact_cell exact_transform(exact_run *run, const assay_expr *e, const exact_spot *at);

/* ---- recipe_exact_approx.c ---- */
/* rcp.approx.ftz.f32 and div.full.f32 on f32 codes. */
uint64_t exact_rcp_approx(exact_run *run, uint64_t v);
uint64_t exact_div_full(exact_run *run, uint64_t a, uint64_t b);
/* The choice-th of the consecutive values around a float code. */
uint64_t exact_approx_value(const assay_format *f, uint64_t code, int choice);

#endif
