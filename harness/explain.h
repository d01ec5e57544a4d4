/* One block of a recipe, step by step: the values of every operation, as text and as JSON. */
#ifndef ASSAY_EXPLAIN_H
#define ASSAY_EXPLAIN_H

#include "command.h"

/* What is explained: the tiles that touch these elements of an M x K matrix. */
typedef struct {
    const assay_program *program;
    int64_t m, k;
    const assay_grid *inputs;      /* one for each input of the program */
    int64_t row, col, rows, cols;  /* elements */
} explain_request;

enum { EXPLAIN_OPERANDS = 64 };

/* One node in one tile. */
typedef struct {
    const assay_statement *statement;
    const assay_expr *expr;
    int64_t row, col;              /* tile, in the grid of the statement's tiling */
    bool root;                     /* the statement's own value */
    bool marked;
    uint64_t bits;
    bool rounds, inexact, tie, beyond; /* beyond: further from zero than every finite value */
    uint64_t below, above;         /* inexact: the neighbours in value (beyond: the greatest) */
    char place[32];                /* inexact: 0..1, where between them */
    char exact[48];                /* inexact: the value before rounding, in decimal, shortened */
    uint64_t *operands;            /* reductions, transforms: the first of them, in order */
    int64_t operand_count;         /* all of them */
} explain_step;

typedef struct {
    explain_step *steps;
    size_t count, capacity;
    bool no_memory;
} explain_trace;

/* Every node but those inside reductions; literals and silent widenings too. 0, or -1. */
int explain_collect(const explain_request *r, explain_trace *trace, assay_error *error);
void explain_trace_free(explain_trace *trace);

/* A value of any type of the language: decimal; hex float (floats, else ""); bits. */
typedef struct {
    char decimal[64], hex[64], bits[64];
} explain_value;
void explain_value_text(assay_type type, uint64_t bits, explain_value *v);

/* What the rounding of a step that rounds did, in words: "exact", or where the exact value lies
 * between its neighbours. */
void explain_rounding(const explain_step *s, char *text, size_t size);

/* malloc'd text, or NULL and `error`. */
char *explain_text(const explain_request *r, assay_error *error);
/* The same as a JSON object, or NULL and `error`. */
json_t *explain_json(const explain_request *r, assay_error *error);

/* "tensor", "row", "column", "element", "block RxC". */
void explain_section(assay_tile tile, char *buffer, size_t size);

#endif
