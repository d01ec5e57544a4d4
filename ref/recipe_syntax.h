/* Private to the recipe front end: tokens, the syntax tree, instances of parameters, messages.
 *
 *   recipe_lex.c        text -> tokens
 *   recipe_parse*.c     tokens -> lines and expressions, parameters still open
 *   recipe_guard.c      what guards and requires say of parameters
 *   recipe_instance.c   the list of instances; recipe_choose.c: one of them
 *   recipe_number.c     exact rationals and their canonical spelling
 *   recipe_check*.c     one instance -> assay_program (recipe_check.h) */
#ifndef ASSAY_RECIPE_SYNTAX_H
#define ASSAY_RECIPE_SYNTAX_H

#include <gmp.h>
#include <setjmp.h>

#include "arena.h"
#include "recipe.h"

/* Limits that hostile text runs into; real recipes stay far below. */
enum {
    RECIPE_TEXT_LIMIT = 1 << 18,   /* bytes of a file */
    RECIPE_DEPTH_LIMIT = 200,      /* of an expression's tree */
    RECIPE_ARGUMENT_LIMIT = 16,    /* of a call */
    RECIPE_PARAM_LIMIT = 64,       /* parameter lines of a recipe */
    RECIPE_CHOICE_LIMIT = 250,     /* alternatives of a parameter */
    RECIPE_INSTANCE_LIMIT = 65536, /* instances of a recipe */
    RECIPE_VISIT_LIMIT = 1 << 19,  /* combinations tried while they are counted */
    RECIPE_LINE_LIMIT = 2000,      /* lines of a recipe; statements of a program */
    RECIPE_USE_LIMIT = 16          /* nested `use` */
};

typedef enum {
    TOKEN_END,
    TOKEN_NEWLINE,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_SHAPE,
    TOKEN_STRING, /* text without the quotes */
    TOKEN_SIGN    /* = == ( ) ... */
} token_kind;

typedef struct {
    token_kind kind;
    const char *text; /* NULL: absent (optional parts of a line) */
    int line, column;
} token;

/* ---- the syntax tree ---- */

typedef enum { SYN_NUMBER, SYN_SHAPE, SYN_NAME, SYN_CALL, SYN_NEG, SYN_NOT, SYN_BINARY, SYN_IF,
               SYN_NAN } syn_kind;

typedef struct syn syn;
struct syn {
    syn_kind kind;
    token at;   /* the word itself, the name of a call, the operator; NAN: its number */
    int depth;  /* of the tree below, a leaf has 1 */
    int argc;
    syn **arg;
};

typedef enum { LINE_SOURCE, LINE_NAN, LINE_REQUIRE, LINE_PARAM, LINE_IN, LINE_OUT, LINE_USE,
               LINE_ASSIGN, LINE_MARK, LINE_LAYOUT } line_kind;
typedef enum { PLACE_ELEMENT, PLACE_PER, PLACE_TABLE } place_kind;

typedef struct {
    token op;        /* transpose, pad, pack, ... or, after record, the name of a member */
    token *arg;      /* the words behind it */
    int argc;
} layout_step_syntax;

typedef struct {
    line_kind kind;
    token at;            /* first word of the line, guard left aside */
    syn *guard;          /* NULL: always there */
    syn *section_guard;
    token name;          /* declared, assigned; of `use`: the recipe's */
    token type;
    place_kind place;
    token shape;         /* place, or the section's tile */
    token pad;
    bool any_nan, any_zero;
    token feeds;
    token *names;        /* param: alternatives; mark, layout: values */
    int name_count;
    syn *expr;           /* assign, require, mark (condition) */
    token alias;         /* use ... as q */
    token *set_names, *set_values;
    int set_count;
    token *bind_names;
    syn **bind;
    int bind_count;
    layout_step_syntax *steps;
    int step_count;
} recipe_line;

typedef struct {
    token name;
    syn *guard;
    const token *choices;
    int choice_count;
} recipe_param;

struct assay_recipe {
    assay_arena *arena;        /* the decode part shares its recipe's */
    const char *file, *text, *name, *family, *summary, *source;
    const char *settings;      /* canonical text: "(P=V, ...)" of the first line, else "" */
    token head;                /* the name in the first line; `decode` */
    bool canonical;
    assay_recipe *decode;      /* of the main recipe */
    const assay_recipe *main;  /* of a decode part, else NULL */
    recipe_line *lines;
    int line_count;
    recipe_param *params;      /* one a line `param`; a decode part begins with its recipe's */
    int param_count;
    const syn **param_requires, **param_require_guards;
    int param_require_count;
    uint8_t *instances;        /* instance_count x param_count: choice, or RECIPE_ABSENT */
    int instance_count;
    assay_parameter *parameters; /* merged by name, for assay_recipe_parameters */
    int parameter_count;
};
enum { RECIPE_ABSENT = 255 };

/* ---- messages ---- */

/* Where a failure jumps to. Everything between setjmp and the jump lives in arenas. */
typedef struct {
    jmp_buf jump;
    assay_error *error;
    bool failed;
} recipe_failure;

/* FILE:LINE:COL: error: TEXT, the line, a caret; then jumps. */
_Noreturn void recipe_fail(recipe_failure *f, const assay_recipe *r, token at, const char *format,
                           ...) __attribute__((format(printf, 4, 5)));
/* One more line behind a message. */
void recipe_note(assay_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The word among `count` that is nearest to `word` in spelling, or NULL if none is near. */
const char *recipe_nearest(const char *word, const char *const *words, int count);

/* ---- lexing, parsing ---- */

/* The text's tokens, the last one TOKEN_END; fails through `f`. In the recipe's arena. */
token *recipe_lex(assay_recipe *r, recipe_failure *f, size_t length, int *count);
bool recipe_is_word(const char *text); /* not usable as a name */
bool recipe_is_token(token t, const char *text); /* the word or sign `text` */

typedef struct {
    assay_recipe *r;
    recipe_failure *f;
    const token *t; /* the next token */
    int depth;
} parser;
bool recipe_accept(parser *p, const char *text);
void recipe_expect(parser *p, const char *text);
_Noreturn void recipe_expected(parser *p, const char *what);
syn *recipe_parse_expr(parser *p);
void recipe_parse_part(parser *p);
void recipe_parse_layout(parser *p, recipe_line *line);

/* ---- instances ---- */

/* The choice of every parameter in one instance. */
typedef struct {
    const assay_recipe *r;
    const uint8_t *choice; /* param_count of them */
} recipe_env;

/* The parameter of that name that exists in this instance; NULL if there is none. */
const token *recipe_env_find(const recipe_env *env, const char *name);
bool recipe_is_param(const assay_recipe *r, const char *name);
/* A guard's or a parameter require's value; names were checked at parsing. */
bool recipe_guard_holds(const recipe_env *env, const syn *guard);
bool recipe_line_exists(const recipe_env *env, const recipe_line *line);
/* Does the expression name M or K (a require over shapes)? */
bool recipe_names_shape(const syn *e);
/* A require, which may mix both kinds: `tile != row or K % 64 == 0` is decided by the parameters, or
 * it is open and depends on M and K. */
typedef enum { RECIPE_FALSE, RECIPE_TRUE, RECIPE_OPEN } recipe_truth;
recipe_truth recipe_require_holds(const recipe_env *env, const syn *require);
/* Fail if a guard, or what a require says of parameters, is not comparisons of parameters. */
void recipe_check_guard(const assay_recipe *r, recipe_failure *f, const syn *e);
void recipe_check_require(const assay_recipe *r, recipe_failure *f, const syn *e);
/* Checks guards, lists parameters and instances; fails if none or too many are left. */
void recipe_list_instances(assay_recipe *r, recipe_failure *f);
/* "(T=bf16, tile=1x16)" or "": the parameters that make up an instance's name. */
char *recipe_env_settings(assay_arena *a, const recipe_env *env);
/* The first instance with these choices; NULL and a message without place if there is none. */
const uint8_t *recipe_choose(const assay_recipe *r, const char *const *names,
                             const char *const *values, int count, assay_error *error);

/* ---- numbers ---- */

bool recipe_number_valid(const char *text); /* within the limits of size */
void recipe_number_parse(mpq_ptr q, const char *text);
/* LANGUAGE.md section 15; the sign is the caller's: q >= 0. */
char *recipe_number_text(assay_arena *a, mpq_srcptr q);
/* RxC, or tensor row column element; false if it is neither. */
bool recipe_shape_parse(const char *text, assay_tile *tile);

#endif
