/* One message for whoever called: what went wrong, where, and what to do about it. */
#ifndef ASSAY_ERROR_H
#define ASSAY_ERROR_H

/* The caller owns it; functions that fail fill it and return nonzero (or NULL). `message` is a
 * finished text without "assay: " in front and without a newline behind; errors of a recipe's text
 * are several lines: FILE:LINE:COL: error: TEXT, the line, a caret. */
typedef struct {
    char message[4096];
} assay_error;

/* Formats a message into `error` (which may be NULL) and returns -1, so that a function can write
 * `return assay_fail(error, ...)`. */
int assay_fail(assay_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
