/* Runs one program over one matrix in bands of rows on several threads, from mapped or written
 * tensors to written tensors: reading, evaluating and writing overlap, memory stays bounded. */
#ifndef ASSAY_EVAL_BANDS_H
#define ASSAY_EVAL_BANDS_H

#include <signal.h>

#include "../ref/recipe_eval.h"
#include "../vectors/safetensors.h"

/* Where an input's grid comes from. */
typedef struct {
    const void *data; /* the whole grid; NULL: see `tensor` */
    bool mapped;      /* data lies in job->file: its pages are given back after use */
    int tensor;       /* data NULL: index of a tensor of the writer, or -1: all zero */
} eval_source;

enum { EVAL_PASSES = 16 };

/* Seconds by the clock for each pass; `write` is the part of them that threads spent in writing. */
typedef struct {
    double pass[EVAL_PASSES];
    int passes;
    double write;
} eval_times;

typedef struct {
    const assay_program *program;
    const assay_fast *fast;       /* NULL: the exact evaluator, the whole matrix at once */
    int64_t m, k;
    const eval_source *sources;   /* program->input_count */
    const int *sinks;             /* program->output_count: tensor of the writer, -1: not wanted */
    const char *name;             /* of the main tensor, for messages */
    const safetensors_file *file;
    safetensors_writer *writer;
    int threads;
    const volatile sig_atomic_t *stop; /* not 0: give up at the next band */
    void (*progress)(void *context, int64_t rows); /* rows of one pass done; one thread at a time */
    void *progress_context;
} eval_job;

/* 0, or -1 and `error`; also -1 when stopped. */
int eval_run(const eval_job *job, eval_times *times, assay_error *error);

#endif
