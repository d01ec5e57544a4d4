/* One child process that may do anything: crash, hang, exit, print, leak. What it does is an event
 * here, never an end of ours. Nothing of the harness's memory is mapped in it but the two files of
 * tensors that it is given. */
#ifndef ASSAY_ISOLATE_H
#define ASSAY_ISOLATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../ref/error.h"

enum {
    ISOLATE_CHANNEL = 3, /* descriptors in the child: adapters/WORKER.md */
    ISOLATE_INPUTS = 4,
    ISOLATE_OUTPUTS = 5,
    ISOLATE_LOG = 8192,          /* the last bytes that are kept of what it prints */
    ISOLATE_LINE_LIMIT = 1 << 20 /* an answer is not longer */
};

typedef struct {
    char *const *argv;
    char *const *environment; /* "NAME=VALUE" that are added to ours; NULL at the end; may be NULL */
    int inputs, outputs;      /* our descriptors that become 4 and 5 */
    int64_t memory_limit;     /* bytes of private resident memory; 0: none */
    const volatile sig_atomic_t *stop; /* not 0: give up waiting; may be NULL */
} isolate_options;

typedef enum {
    ISOLATE_ANSWER,  /* a line came */
    ISOLATE_HANG,    /* none within the time limit; it was killed */
    ISOLATE_MEMORY,  /* over the memory limit; killed */
    ISOLATE_DIED,    /* it ended, or closed the channel, or the line was too long; gone */
    ISOLATE_STOPPED  /* *stop; killed */
} isolate_event;

typedef struct {
    isolate_options options;
    pid_t pid;          /* 0: none alive */
    int channel, print; /* our ends; -1 */
    char end[160];      /* how it ended, in words; "" while alive */
    int signal;         /* that ended it, or 0 */
    char log[2 * ISOLATE_LOG];
    size_t log_used;
    uint64_t printed;   /* bytes in all */
    char *line;         /* the answer being read */
    size_t line_used, line_size, line_taken;
} isolate;

/* Starts the child; the struct is then freed by isolate_end. 0, or -1 and `error`. */
int isolate_start(isolate *c, const isolate_options *options, assay_error *error);
bool isolate_alive(const isolate *c);
/* Sends one line (without newline) and waits for one. *answer is valid until the next call. */
isolate_event isolate_ask(isolate *c, const char *line, double seconds, const char **answer);
/* Ends the child if it lives: `request` (or NULL) is sent first and it gets `grace` seconds. */
void isolate_end(isolate *c, const char *request, double grace);
/* What it printed last, as valid text: printable ASCII and newlines; malloc'd, "" if nothing. */
char *isolate_printed(const isolate *c);

#endif
