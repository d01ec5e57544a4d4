/* The child's side: the process in which a shared object or a built-in adapter runs. It is this same
 * program started anew as `assay --adapter-host WHAT`, so nothing of the run's memory is in it. */
#ifndef ASSAY_RUN_HOST_H
#define ASSAY_RUN_HOST_H

#include <jansson.h>

#include "../adapters/adapter.h"

#define RUN_HOST_FLAG "--adapter-host"

/* argv[1] is RUN_HOST_FLAG, argv[2] the path of a .so or "builtin:NAME". Answers requests on
 * descriptor 3 until `close`; returns the exit status. */
int run_host_main(int argc, char **argv);

/* Built-in adapters (run_builtin*.c): recipe, recorded, command; NULL if there is none of that
 * name. */
const assay_adapter *run_builtin_find(const char *name);
extern const assay_adapter run_builtin_recipe, run_builtin_command, run_builtin_recorded;

/* Tensors of a `run` request mapped between inaccessible pages (run_host_map.c). */
typedef struct {
    const char *name;
    unsigned char *base;   /* first byte of the reservation: a guard page */
    size_t length;         /* of the reservation, both guard pages included */
    size_t start, pages;   /* the region in its file */
    int fd, writable;
} host_region;

typedef struct {
    host_region *regions;
    int count;
} host_map;

/* Maps what the arrays of tensors describe and fills `tensors` (inputs first). The former map is
 * kept if it is the same. 0, or -1. */
int host_map_tensors(host_map *map, const json_t *inputs, const json_t *outputs,
                     assay_tensor *tensors);
/* Which tensor's guard page or read-only page was touched? Writes a sentence; 0 if it was none.
 * Async-signal-safe. */
int host_map_blame(const host_map *map, const void *address, char *text, size_t size);

#endif
