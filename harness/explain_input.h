/* What `assay explain` is asked about, turned into a program and its inputs. */
#ifndef ASSAY_EXPLAIN_INPUT_H
#define ASSAY_EXPLAIN_INPUT_H

#include "eval_plan.h"
#include "explain.h"

typedef struct {
    eval_options eval;          /* recipe, recipe_file, in, sets, binds; exact */
    const char *values, *bits;  /* "1,2.5,-3"; "0x3f80,0x4020" */
    const char *from, *tensor, *block, *shape;
    bool json;
} explain_options;

typedef struct {
    eval_plan plan;
    safetensors_file *file;
    const assay_program *program;
    assay_grid *inputs;
    void **owned;               /* by input: made here, else NULL */
    explain_request request;
} explain_input;

/* A status of command.h; says on standard error what is wrong. */
int explain_input_make(explain_options *o, explain_input *input);
void explain_input_free(explain_input *input);

#endif
