/* What `assay eval` is to do: which tensors of a file fit which instance of the recipe, where each
 * further input comes from, and which tensors the output file gets. */
#ifndef ASSAY_EVAL_PLAN_H
#define ASSAY_EVAL_PLAN_H

#include "../vectors/safetensors.h"
#include "eval_bands.h"

typedef struct {
    const char *name, *value; /* --set NAME=VALUE, --bind INPUT=TENSOR */
    bool used;
} eval_setting;

typedef struct {
    const char *recipe;       /* "NAME" or "NAME(P=V, ...)"; NULL with recipe_file */
    const char *recipe_file, *in, *out;
    const char **tensors;     /* --tensor; none: all that fit */
    int tensor_count;
    eval_setting *sets, *binds;
    int set_count, bind_count;
    int threads;
    bool exact, decode, layout, skip, json;
} eval_options;

/* The recipe and, if it has one, its decode part. */
typedef struct {
    assay_recipe *recipe, *decode;
    const char *choices; /* the text between the parentheses, or "" */
    char *text;          /* owned */
    assay_recipe *owned; /* parsed from a file: freed with the plan */
} eval_recipe;

/* One instance with what runs it; `next`: the cache of a plan. */
typedef struct eval_instance {
    char *choices;       /* the key: the text that made it */
    assay_program *program;
    assay_fast *fast;    /* NULL with the exact evaluator */
    assay_program *decode;
    assay_fast *decode_fast;
    struct eval_instance *next;
} eval_instance;

typedef struct {
    const safetensors_tensor *tensor;
    const eval_instance *instance;
    int64_t m, k;
    eval_source *sources, *decode_sources; /* one for each input */
    int *sinks, *decode_sinks;             /* one for each output */
    int *byte_sinks;                       /* one for each layout line and value: see eval_layout */
} eval_item;

typedef struct {
    const safetensors_tensor *tensor;
    char *why;
} eval_left_out;

typedef struct {
    const eval_options *options;
    const safetensors_file *file;
    safetensors_writer *writer;
    eval_recipe recipe;
    eval_instance *instances;
    eval_item *items;
    int item_count;
    eval_left_out *left_out;
    int left_out_count;
    void **owned;  /* values made from --set */
    int owned_count;
} eval_plan;

/* Takes `text`, NAME=VALUE of --option, apart at the sign and adds it to the list. A status. */
int eval_add_setting(eval_setting **list, int *count, char *text, const char *option);
/* Finds or parses the recipe. A status of command.h; says on standard error what is wrong. */
int eval_recipe_load(const eval_options *o, eval_recipe *r);
/* Plans every tensor and declares the output's tensors on plan->writer. options, file, writer and
 * recipe are set by the caller. A status; tensors that do not fit are in left_out. */
int eval_plan_make(eval_plan *plan);
void eval_plan_free(eval_plan *plan);

/* The bytes of the layout lines of one tensor: does the shape suit them; the output's tensors for
 * them; and, once the codes are written, the bytes. */
int eval_layout_check(const eval_item *item, assay_error *error);
int eval_layout_declare(eval_plan *plan, eval_item *item, assay_error *error);
int eval_layout_write(const eval_plan *plan, const eval_item *item, assay_error *error);

/* The instance for a dtype: the user's choices; a parameter that the user left open takes the
 * alternative that is the tensor's dtype (T first). NULL and `why` if none fits. */
const eval_instance *eval_instance_for(eval_plan *plan, const char *dtype, assay_error *why);
/* The code of a type that a text means: numbers, hex floats, nan, inf; 0x without p: the bits. */
int eval_parse_value(assay_type type, const char *text, uint64_t *code, assay_error *error);
/* Grid bytes of a value for an m x k matrix. */
int64_t eval_grid_bytes(const assay_value *v, int64_t m, int64_t k);

#endif
