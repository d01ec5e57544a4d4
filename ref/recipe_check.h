/* Private to recipe_check*.c: one instance on its way to an assay_program.
 *
 * Corners of the language (LANGUAGE.md says the same to its users):
 * - A literal under a cast is rounded once from the exact rational and becomes a constant of the
 *   target format that prints as the cast it was. An if, min or max of literals under a cast is f32.
 *   Two integer literals never make an integer: `8 / 2` is f32. `-0` is the negative zero.
 * - A literal assigned to an output narrower than f32 must be exact there.
 * - copysign takes the sign of its second argument's own code, without conversion; comparisons widen
 *   both sides to f32 or f64.
 * - A comparison with a parameter that does not exist in the instance: != holds, the others do not.
 * - A require may mix parameters with M and K; where the parameters decide it, it vanishes or the
 *   instance does.
 * - A decode part has its recipe's requires, and its nan unless it states one; not its layouts. Its
 *   inputs are those outputs of the recipe that its lines read, in the order of their declaration;
 *   then its own. u8 outputs are read as u32.
 * - `use` spells out the conversions that declarations imply; statements of it that nobody reads are
 *   dropped; a recipe with a padded input or a u8 output cannot be used. A table is bound to a table
 *   by name; at() inside sees an input that is bound to an input by name.
 * - Canonical text: all `in`, then all `out`, then all `require`; integers from 2^64 on are written
 *   as 2^e or as hexadecimal floats. */
#ifndef ASSAY_RECIPE_CHECK_H
#define ASSAY_RECIPE_CHECK_H

#include "recipe_syntax.h"

/* The type of an expression made of literals alone until its context gives it one (`settle`). Such
 * an expression is a CONST, or an IF, MIN or MAX of such; no program keeps it. */
enum { T_LITERAL = 99 };

/* What is behind assay_program.arena. */
typedef struct {
    assay_arena *arena;
    const char **require_text; /* for assay_program_admits */
} program_memory;

/* A recipe being read: the user's, or one that a `use` inlines. */
typedef struct scope scope;
struct scope {
    const assay_recipe *r;
    recipe_env env;
    const char *prefix;      /* of its names: "", "q.", "q.r." */
    const char *file;        /* the program's copy */
    scope *outer;
    token use;               /* in outer */
    const char **alias_name; /* inputs bound to inputs of the outer scope */
    int *alias_value;
    int alias_count;
};

/* What the checks need to know of a value besides what the program says. */
typedef struct {
    token at;
    bool from_use;
    bool declared_output; /* of the scope it is in: section and type are given */
    bool assigned;
    bool read;            /* by an assignment so far */
} value_facts;

typedef struct {
    mpq_ptr q;
    bool negative_zero;
} literal;

typedef struct {
    recipe_failure *f;
    assay_arena *arena;
    assay_program *p;
    scope *scope;
    value_facts *facts;     /* one for each value */
    int fact_count;
    literal *literals;
    int literal_count;
    assay_tile tile;        /* of the section, or of the reduction's argument */
    bool inside;            /* a reduction or a transform */
    bool shapes_only;       /* a require: M and K are all there is */
    bool in_mark;           /* reads do not count */
    assay_recipe_finder find;
    void *find_context;
    int depth, uses;        /* of `use` lines */
} checker;

/* ---- recipe_check.c ---- */
const char *check_keep(checker *c, const char *text);
#define check_fail(c, at, ...) recipe_fail((c)->f, (c)->scope->r, (at), __VA_ARGS__)
/* The word, or the alternative that stands for it if it is a parameter (which must exist). */
token check_substitute(checker *c, token t);
assay_tile check_shape(checker *c, token t); /* shape words, parameters */
assay_type check_type(checker *c, token t);
/* Index of the value that a name means in this scope, or -1. */
int check_find(checker *c, const char *name);
int check_find_input(checker *c, token name); /* for at and rotate: aliases too; fails if none */
int check_new_value(checker *c, token name, assay_value_role role, assay_type type, assay_tile tile);

/* ---- recipe_check_declare.c, recipe_check_statement.c ---- */
void check_declarations(checker *c, const assay_recipe *r);
/* Gives value `target` the expression, converted to the value's type if that is fixed. */
void check_assign(checker *c, int target, token at, assay_expr *e, bool fixed);
void check_body(checker *c, const assay_recipe *r); /* lines of sections, uses */
void check_requires(checker *c, const assay_recipe *r);
void check_find_nan(checker *c, const assay_recipe *r);
/* Does a decode part read the output `name` of its recipe in this instance? */
bool check_reads(checker *c, const assay_recipe *r, const char *name);
assay_program *recipe_check_instance(const assay_recipe *r, const uint8_t *choice,
                                     assay_recipe_finder find, void *context, assay_error *error);

/* ---- recipe_check_expr.c ---- */
bool check_is_literal(const assay_expr *e);
bool check_is_float(assay_type t);
bool check_is_integer(assay_type t);
assay_type check_format_type(const assay_format *f);
assay_type check_kind_type(assay_type_kind kind);
assay_type check_f32(void);
token check_place(const assay_expr *e);
assay_expr *check_node(checker *c, assay_op op, assay_type type, token at, int argc,
                       assay_expr *const *arg);
assay_expr *check_expr(checker *c, const syn *e);  /* may be a literal */
assay_expr *check_typed(checker *c, const syn *e); /* literals become f32 */
assay_expr *check_condition(checker *c, const syn *e);
void check_settle(checker *c, assay_expr *e, assay_type type);
assay_expr *check_widen(checker *c, assay_expr *e, assay_type type);
/* f32, or f64 if one is f64; the literals and narrow formats among them become that. */
assay_type check_arithmetic(checker *c, token at, int count, assay_expr **e);
/* The one type of both: a common format, else f32 or f64; an integer type; bool. */
assay_type check_unify(checker *c, token at, assay_expr **a, assay_expr **b);
assay_type check_integers(checker *c, token at, assay_expr **a, assay_expr **b);
/* An argument that must be an integer of this type. */
assay_expr *check_integer(checker *c, const syn *e, assay_type_kind kind);
/* -x, abs, copysign: of f64 f32 f16 bf16 in that format, of others in f32. */
assay_expr *check_sign_bit(checker *c, token at, assay_op op, assay_expr *e);
assay_type check_sign_type(assay_type t);
assay_expr *check_binary(checker *c, token at, assay_op op, assay_expr *a, assay_expr *b);
_Noreturn void check_need_conversion(checker *c, token at, assay_type a, assay_type b);
const char *check_type_name(assay_type t);

/* ---- recipe_check_literal.c ---- */
assay_expr *check_literal(checker *c, token at, mpq_srcptr q, bool negative_zero);
assay_expr *check_number(checker *c, token at);      /* of the token's text */
assay_expr *check_attribute(checker *c, token name); /* F.max ..., NULL if the name is none */
assay_expr *check_negated(checker *c, token at, const assay_expr *e);
uint64_t check_literal_bits(checker *c, const assay_expr *e, assay_type type, bool exact);
assay_expr *check_literal_cast(checker *c, token at, const assay_expr *e, const assay_format *f,
                               const assay_cast *cast);
/* A number in the syntax, for n and masks: an integer in [least, most]. */
uint64_t check_constant(checker *c, const syn *e, uint64_t least, uint64_t most, const char *what);

/* ---- recipe_check_call.c, recipe_check_reduce.c, recipe_check_cast.c ---- */
assay_expr *check_call(checker *c, const syn *e);
assay_expr *check_reduction(checker *c, const syn *call, assay_op op);
assay_expr *check_sum(checker *c, const syn *call, assay_op op);
assay_expr *check_transform(checker *c, const syn *call, assay_op op);
assay_expr *check_cast(checker *c, const syn *call, const assay_format *f);
enum { OPTION_MODE = 1, OPTION_STOCHASTIC = 2, OPTION_OVERFLOW = 4, OPTION_NAN = 8,
       OPTION_NAN_SIGN = 16, OPTION_FTZ = 32 };
typedef struct {
    unsigned seen;
    assay_cast cast;
    assay_expr *random; /* stochastic */
} check_options;
check_options check_read_options(checker *c, const syn *call, int first, unsigned allowed,
                                 const assay_format *f);

/* ---- after the statements ---- */
void check_use(checker *c, const recipe_line *line);         /* recipe_check_use.c */
void check_mark(checker *c, const recipe_line *line);        /* recipe_check_mark.c */
void check_layouts(checker *c, const assay_recipe *r);       /* recipe_check_layout.c */
void check_live(checker *c);   /* recipe_check_finish.c: drops what a use leaves unread */
void check_approx(checker *c); /* recipe_check_approx.c */
void check_number_nodes(checker *c);
void check_nan_matters(checker *c);

bool recipe_shape_node(const assay_expr *e); /* recipe_admit.c: may it stand in a require? */

/* ---- recipe_print.c ---- */
void recipe_print_cast_options(assay_text *t, const assay_format *f, const assay_cast *cast,
                               uint32_t f32_nan, const char *random);
const char *recipe_tile_text(assay_tile tile, char buffer[48]); /* tensor, row, 1x16 ... */

#endif
