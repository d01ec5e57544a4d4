/* The subcommands of `assay`: one table row each (main.c), one file each (cmd_NAME.c). */
#ifndef ASSAY_COMMAND_H
#define ASSAY_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../ref/assay.h"

/* Exit statuses. The worst of several wins in the order 2, 4, 3, 1, 0. */
enum {
    STATUS_OK = 0,
    STATUS_DIFFERS = 1,
    STATUS_USAGE = 2,
    STATUS_ADAPTER = 3,
    STATUS_FILE = 4
};
int status_worst(int a, int b);

typedef struct {
    const char *name;
    const char *summary;            /* one line for `assay --help` */
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name; returns a status */
} command;

int cmd_formats(int argc, char **argv);
int cmd_cast(int argc, char **argv);
int cmd_recipes(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_vectors(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_bench(int argc, char **argv);

/* "assay: TEXT" on standard error; returns `status`. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ": did you mean NAME?" with the name of similar spelling, or "", into a buffer. */
void suggest(const char *word, const char *const *names, int count, char *buffer, size_t size);
/* There is no format of that name. Returns STATUS_USAGE. */
int complain_no_format(const char *caller, const char *name);

/* A value three ways: {"dec", "hex", "bits"}; `bits` are the code in format f. */
json_t *json_value(const assay_format *f, uint64_t code);
/* Shortest decimal that reads back to the same value of f32 (of f64 for f64), hence to the same code
 * of f ("nan", "inf", "-inf" for specials), the hex float, and the bits, into buffers of at least 64
 * bytes. */
void value_decimal(const assay_format *f, uint64_t code, char *buffer, size_t size);
void value_hex(const assay_format *f, uint64_t code, char *buffer, size_t size);
void value_bits(const assay_format *f, uint64_t code, char *buffer, size_t size);
/* Prints one JSON document and a newline to stdout (and frees it); STATUS_OK, or STATUS_FILE if it
 * could not be written. */
int print_json(json_t *document);
/* Flushes stdout and says whether everything printed so far got out (full disk, closed pipe). */
int finish_output(void);

#endif
