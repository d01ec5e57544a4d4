/* A recipe as a typed tree: what the parser and the checker make and the evaluators read.
 *
 *   text --parse--> assay_recipe (parameters open) --instance--> assay_program (all decided)
 *
 * An assay_program is straight-line and single-assignment. Every implicit conversion of the
 * language stands in it as a node (WIDEN, TO_U8), every literal has its type and its bits, and
 * `use` is inlined, so that an evaluator needs no rule of the language but "each node rounds once".
 * The syntax tree is private to recipe_parse.c and recipe_check.c (recipe_syntax.h). */
#ifndef ASSAY_RECIPE_H
#define ASSAY_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "format.h"
#include "layout.h"
#include "round.h"

/* ---- types, tilings ---- */

typedef enum {
    ASSAY_T_FORMAT, /* `format` says which; f32, f64, bf16 ... are formats like any other */
    ASSAY_T_U8,     /* outputs only */
    ASSAY_T_U32,
    ASSAY_T_I32,
    ASSAY_T_U64,
    ASSAY_T_BOOL
} assay_type_kind;

typedef struct {
    assay_type_kind kind;
    const assay_format *format; /* NULL but for ASSAY_T_FORMAT */
} assay_type;

static inline bool assay_type_equal(assay_type a, assay_type b)
{
    return a.kind == b.kind && a.format == b.format;
}
/* Bytes of one value of this type in a grid: formats as assay_format_storage, u8 and bool 1,
 * u32 and i32 4, u64 8. */
int assay_type_storage(assay_type t);
const char *assay_type_name(assay_type t);

/* RxC; 0 stands for *: the whole extent. element 1x1, row 1x*, column *x1, tensor *x*. */
typedef struct {
    int64_t rows, cols;
} assay_tile;

static inline bool assay_tile_equal(assay_tile a, assay_tile b)
{
    return a.rows == b.rows && a.cols == b.cols;
}
/* Grid of a tiling over an M x K matrix: ceil(M / R) x ceil(K / C), * counts as one tile. */
static inline int64_t assay_tiles_along(int64_t extent, int64_t side)
{
    return side == 0 ? 1 : (extent + side - 1) / side;
}
/* Is a name of tiling `outer` visible in a section of tiling `inner` (LANGUAGE.md 6)? */
bool assay_tile_sees(assay_tile inner, assay_tile outer);

/* ---- expressions ---- */

/* op, number of arguments (-1: see the comment), the word of the language or "" */
#define ASSAY_OPS(X)                                                                               \
    /* leaves */                                                                                   \
    X(CONST, 0, "")       /* u.constant */                                                         \
    X(VALUE, 0, "")       /* u.value: a value visible here (its tile contains this one), or inside \
                             a reduction at the reduction's own finer tiling */                    \
    X(ROW, 0, "row") X(COL, 0, "col") X(INDEX, 0, "index") X(DIM_M, 0, "M") X(DIM_K, 0, "K") /*u64*/\
    /* exact conversions that the language makes silently; arg 0 -> type */                        \
    X(WIDEN, 1, "")       /* float format -> wider float format, exact, NaN -> canonical */        \
    X(TO_U8, 1, "")       /* u32, i32, bool -> u8: the low bits */                                 \
    /* float arithmetic in `type` (f32 or f64), arguments of that type; u.arith: mode, ftz */      \
    X(ADD, 2, "add") X(SUB, 2, "sub") X(MUL, 2, "mul") X(DIV, 2, "div") X(FMA, 3, "fma")           \
    X(SQRT, 1, "sqrt") X(RINT, 1, "rint") /* rint: u.arith.mode */                                 \
    /* correctly rounded functions, f32 or f64 */                                                  \
    X(EXP, 1, "exp") X(EXP2, 1, "exp2") X(LOG2, 1, "log2")                                         \
    X(LDEXP, 2, "ldexp")  /* (float, i32); */                                                      \
    X(POW2, 1, "pow2")    /* i32 -> f32 */                                                         \
    X(FLUSH, 1, "flush") X(CLAMP, 3, "clamp")                                                      \
    X(RCP_APPROX, 1, "rcp_approx") X(DIV_FULL, 2, "div_full") /* f32 */                            \
    X(APPROX, 1, "approx") /* u.approx */                                                          \
    /* sign bit alone, in the format of the argument (f32, f64, f16, bf16) */                      \
    X(NEG, 1, "-") X(ABS, 1, "abs") X(COPYSIGN, 2, "copysign") X(SIGNBIT, 1, "signbit") /* bool */ \
    X(ISNAN, 1, "isnan") X(ISINF, 1, "isinf")                                                      \
    X(EXPONENT, 1, "exponent") /* float -> i32 */                                                  \
    /* both arguments of `type`: floats of one format, or one integer type */                      \
    X(MIN, 2, "min") X(MAX, 2, "max")                                                              \
    X(IF, 3, "if")        /* condition, then, else */                                              \
    /* casts */                                                                                    \
    X(CAST, -1, "")       /* one argument: a float format or an integer, exact; u.cast; stochastic: \
                             a second argument, the random bits (u32 or u64) */                    \
    X(BITS, 1, "bits")    /* format -> u32 (f64: u64) */                                           \
    X(CODE, 1, "code")    /* integer -> format `type`: its low bits */                             \
    X(TO_U32, 1, "u32") X(TO_I32, 1, "i32") X(TO_U64, 1, "u64") /* from float, integer, bool */    \
    /* integers of `type`; comparisons of integers and floats give bool */                         \
    X(IADD, 2, "+") X(ISUB, 2, "-") X(IMUL, 2, "*") X(IDIV, 2, "/") X(IMOD, 2, "%") X(INEG, 1, "-")\
    X(IAND, 2, "&") X(IOR, 2, "|") X(IXOR, 2, "xor") X(SHL, 2, "<<") X(SHR, 2, ">>")               \
    X(EQ, 2, "==") X(NE, 2, "!=") X(LT, 2, "<") X(LE, 2, "<=") X(GT, 2, ">") X(GE, 2, ">=")        \
    X(AND, 2, "and") X(OR, 2, "or") X(NOT, 1, "not")                                               \
    /* gathers, generators, transforms */                                                          \
    X(AT, 2, "at")        /* u.value: the input; arguments i, j (u64 or i32 or u32) */             \
    X(PHILOX, 4, "philox") /* key u64, lo u64, hi u64, w -> u32 */                                 \
    X(HADAMARD, 1, "hadamard") /* u.transform; argument evaluated on elements -> f32 */            \
    X(ROTATE, 1, "rotate")     /* u.transform with the table u.transform.table -> f32 */           \
    /* reductions over the tile: argument evaluated on u.reduce.over, finer than `tile` */         \
    X(RED_AMAX, 1, "amax") X(RED_AMAX_NAN, 1, "amax_nan") X(RED_MAX, 1, "max") X(RED_MIN, 1, "min")\
    X(RED_ANY, 1, "any") X(RED_ALL, 1, "all") X(RED_COUNT, 1, "count") /* u32 */                   \
    X(RED_SUM, 1, "sum")  /* u.reduce.order */                                                     \
    X(RED_DOT, 2, "dot")  /* two arguments; order seq (fma) or exact */

#define ASSAY_OP_ENUM(name, arity, word) ASSAY_OP_##name,
typedef enum { ASSAY_OPS(ASSAY_OP_ENUM) ASSAY_OP_COUNT } assay_op;
#undef ASSAY_OP_ENUM

const char *assay_op_name(assay_op op); /* "CONST", ... */
const char *assay_op_word(assay_op op);

typedef enum { ASSAY_SUM_SEQ, ASSAY_SUM_TREE, ASSAY_SUM_PAIRS, ASSAY_SUM_EXACT } assay_sum_order;

typedef struct {
    const char *file; /* name for messages; NULL for built-in text */
    int line, column; /* from 1 */
} assay_place;

typedef struct assay_expr assay_expr;
struct assay_expr {
    assay_op op;
    assay_type type;   /* of the result */
    assay_tile tile;   /* the tiling on which this node has one value a tile */
    int argc;
    assay_expr *arg[4];
    union {
        struct {
            uint64_t bits;    /* of `type`, right-aligned (i32: two's complement in 32 bits) */
            const char *text; /* canonical spelling of the literal (LANGUAGE.md 15) */
        } constant;
        int value;            /* VALUE, AT: index into program->values */
        struct {
            assay_mode mode;  /* even unless said; never stochastic */
            bool ftz;
        } arith;              /* ADD SUB MUL DIV FMA SQRT RINT */
        assay_cast cast;      /* CAST; the target format is type.format (f32, f64 included) */
        struct {
            assay_tile run;   /* one row 1xn or one column nx1, n = 2^k <= 32 */
            uint32_t mask;    /* HADAMARD */
            int table;        /* ROTATE: index into program->values, a table input */
        } transform;
        struct {
            assay_tile over;  /* V: the tiling of the argument; a V-tile outside the matrix does not
                                 exist; row-major order inside the tile */
            assay_sum_order order;
        } reduce;
        struct {
            int n;            /* one of 2n+1 consecutive f32 values around the argument's value */
            int index;        /* number of this approx in the program, from 0 */
        } approx;
    } u;
    bool nan_matters;  /* the bits of a NaN result can be seen downstream (bits, signbit, copysign,
                          nan_sign, float outputs, ...): produce exactly the canonical NaN */
    int id;            /* 0 .. program->expr_count-1, unique */
    assay_place place;
};

/* ---- values and statements ---- */

typedef enum { ASSAY_INPUT, ASSAY_OUTPUT, ASSAY_LOCAL } assay_value_role;

typedef struct {
    const char *name;          /* dotted inside a use: "q.S" */
    assay_value_role role;
    assay_type type;
    assay_tile tile;
    bool is_table;             /* input `table RxC`: a fixed matrix, no relation to M and K */
    int64_t table_rows, table_cols;
    assay_tile pad;            /* inputs: `pad RxC`, else 1x1 */
    bool any_nan, any_zero;    /* outputs */
    int feeds;                 /* outputs: index of the input that it becomes, else -1 */
    int statement;             /* that assigns it; -1 for inputs */
    assay_place place;
} assay_value;

typedef enum { ASSAY_ASSIGN, ASSAY_MARK } assay_statement_kind;

typedef struct {
    assay_statement_kind kind;
    assay_tile tile;           /* of the section */
    int target;                /* ASSIGN: index into values; the value's tile is this tile */
    assay_expr *expr;          /* ASSIGN: of exactly the value's type; MARK: the bool condition */
    int *marked;               /* MARK: indexes of the values that become unspecified */
    int marked_count;
    assay_place place;
} assay_statement;

typedef struct {
    const char *name;          /* parameter */
    const char *choice;        /* "bf16", "1x16", "448", "exact" */
    bool derived;              /* one alternative only: not part of the instance's name */
} assay_choice;

/* One checked instance. Owned by itself: free with assay_program_free. */
typedef struct assay_program {
    const char *recipe;        /* "te.nvfp4" or "te.nvfp4.decode" */
    const char *family;        /* "te" */
    const char *name;          /* "te.nvfp4(T=bf16, tile=1x16, math=exact)"; no parentheses without
                                  parameters */
    const char *summary, *source;
    uint32_t nan_code;         /* canonical f32 NaN */
    assay_choice *choices;
    int choice_count;
    assay_value *values;
    int value_count;
    int *inputs, *outputs;     /* indexes into values, in order of declaration */
    int input_count, output_count;
    int main_input;            /* the first input without place (one code an element), index into
                                  values; -1 if there is none */
    assay_statement *statements;
    int statement_count;
    assay_expr **requires;     /* over DIM_M, DIM_K, u64 and bool nodes only */
    int require_count;
    assay_layout *layouts;
    int layout_count;
    int expr_count;
    int approx_count;
    char *canonical;           /* canonical text, LANGUAGE.md 15; ends in LF */
    char sha256[65];           /* identity: numerics */
    char layout_sha256[65];    /* of the layout lines */
    void *arena;               /* private: everything above lives in it */
} assay_program;

/* ---- recipes: parsed text with its parameters open ---- */

typedef struct assay_recipe assay_recipe; /* opaque */

/* How `use N` finds N: returns a parsed recipe that stays alive, or NULL. */
typedef assay_recipe *(*assay_recipe_finder)(void *context, const char *name);

/* Parses one file's text (a recipe and, if present, its decode part). `file` is for messages. On
 * success *recipe is set, and *decode to the decode recipe "N.decode" or NULL. The text is copied.
 * 0, or -1 with `error` = FILE:LINE:COL: error: TEXT, the line, a caret. */
int assay_recipe_parse(const char *text, size_t length, const char *file, assay_recipe **recipe,
                       assay_recipe **decode, assay_error *error);
/* The same for canonical text (assay_program.canonical): `recipe NAME(P=V, ...)` in the first line,
 * no source. Its one instance prints as the text itself. */
int assay_recipe_parse_canonical(const char *text, size_t length, const char *file,
                                 assay_recipe **recipe, assay_error *error);
void assay_recipe_free(assay_recipe *recipe); /* the main one frees its decode too */

/* Of its first lines; "" where it says nothing. The family is the name up to the first dot. */
const char *assay_recipe_name(const assay_recipe *r);
const char *assay_recipe_family(const assay_recipe *r);
const char *assay_recipe_summary(const assay_recipe *r);
const char *assay_recipe_source(const assay_recipe *r);
const char *assay_recipe_text(const assay_recipe *r); /* as written */

/* Parameters as declared (guarded ones too), with their alternatives as text. */
typedef struct {
    const char *name;
    const char *const *choices;
    int choice_count;
} assay_parameter;
int assay_recipe_parameters(const assay_recipe *r, const assay_parameter **parameters);

/* Number of instances (all combinations whose requires hold and whose guards leave them distinct),
 * and the i-th one's name (malloc'd). Cheap: no checking of bodies. */
int assay_recipe_instance_count(const assay_recipe *r);
char *assay_recipe_instance_name(const assay_recipe *r, int i);

/* Makes and checks one instance. `choices` is "T=bf16, tile=1x16" or NULL or "": parameters left
 * out take their first alternative that leaves an instance. NULL and `error` on bad text. */
assay_program *assay_recipe_instance(const assay_recipe *r, const char *choices,
                                     assay_recipe_finder find, void *context, assay_error *error);
/* Checks every instance; the first that fails is named in a note of the message. */
int assay_recipe_check(const assay_recipe *r, assay_recipe_finder find, void *context,
                       assay_error *error);
void assay_program_free(assay_program *p);

/* Deep copy of a program into an arena of its own (mutants start here). */
assay_program *assay_program_copy(const assay_program *p);
/* Prints the canonical text of a program anew (malloc'd), and computes both identities. */
char *assay_program_print(const assay_program *p);
void assay_program_identify(assay_program *p);
/* Prints one expression, one statement (malloc'd), for messages and explain. */
char *assay_expr_print(const assay_program *p, const assay_expr *e);
char *assay_statement_print(const assay_program *p, const assay_statement *s);

/* Do M, K satisfy every `require`? If not and `why` is given: the text of the line that fails. */
bool assay_program_admits(const assay_program *p, int64_t m, int64_t k, const char **why);

/* ---- the catalogue: the recipes built into the library (ref/recipes/, embedded) ---- */

/* Any thread may call these; the index is made once. Recipes belong to the catalogue. */
int assay_catalogue_count(void);
/* i-th recipe, in order of name; parsed on demand and kept. Decode parts are entries of their own
 * right after their recipe. NULL and `error` if the text is bad (tests see to it that it is not). */
assay_recipe *assay_catalogue_recipe(int i, assay_error *error);
const char *assay_catalogue_name(int i); /* without parsing the whole text */
assay_recipe *assay_catalogue_find(const char *name, assay_error *error);
/* "NAME" or "NAME(P=V, ...)" -> program; the finder for `use` is the catalogue. */
assay_program *assay_catalogue_program(const char *instance, assay_error *error);

#endif
