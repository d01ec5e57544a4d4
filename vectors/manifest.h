/* vectors/golden/MANIFEST: one line for each vector set of the primary instances, kept in the
 * repository or made on demand, with the SHA-256 of the file it makes. */
#ifndef ASSAY_MANIFEST_H
#define ASSAY_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "../ref/error.h"

typedef struct {
    char sha256[65];   /* of the set's file */
    char identity[65]; /* of the recipe's instance */
    char class_[16];
    uint64_t seed;
    int cases;
    int64_t bytes;
    bool kept;         /* the file itself is in the directory */
    char *recipe;      /* instance name; owned */
} manifest_row;

typedef struct {
    manifest_row *rows; /* sorted by recipe, class, seed after manifest_sort */
    int count, capacity;
} manifest;

/* Every function that can fail gives 0, or -1 and `error`. */
int manifest_read(manifest *m, const char *path, assay_error *error);
/* Sorts, then writes under a temporary name and renames. */
int manifest_write(manifest *m, const char *path, assay_error *error);
/* Adds a row or replaces the one of the same recipe, class and seed; copies the recipe's name. */
int manifest_put(manifest *m, const manifest_row *row, assay_error *error);
manifest_row *manifest_find(const manifest *m, const char *recipe, const char *class_, uint64_t seed);
void manifest_free(manifest *m);

/* "te.nvfp4(T=bf16, tile=1x16)", "edges" -> "te.nvfp4,T=bf16,tile=1x16.edges.safetensors". */
char *manifest_file_name(const char *recipe, const char *class_);
/* SHA-256 of a file in hexadecimal, and its size. */
int manifest_hash_file(const char *path, char hex[65], int64_t *bytes, assay_error *error);

#endif
