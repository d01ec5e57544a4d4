/* The vector sets that a command is about, and making them on several threads. */
#ifndef ASSAY_VECTOR_JOBS_H
#define ASSAY_VECTOR_JOBS_H

#include "../vectors/manifest.h"
#include "../vectors/vector_set.h"

typedef struct {
    char *recipe;       /* instance name */
    const char *class_;
    uint64_t seed;
    bool is_default;    /* the recipe's first instance */
    /* Results: */
    int cases;          /* 0: the class has none for this recipe */
    int64_t bytes;
    char sha256[65], identity[65];
    char *failure;      /* NULL: made */
} vector_job;

typedef struct {
    vector_job *list;
    int count, capacity;
} vector_jobs;

/* Appends one set to make; copies the recipe's name, borrows the class. 0, or -1: no memory. */
int vector_jobs_add(vector_jobs *jobs, const char *recipe, const char *class_, uint64_t seed,
                    bool is_default);
/* All classes (or one) of the recipes that a pattern picks: NAME: its primary instances; NAME(*): the
 * same; NAME(...) with other wildcards: all instances that match; NAME(P=V, ...): that one. Sets of a
 * pattern that nothing matches: -1 and `error`. */
int vector_jobs_pick(vector_jobs *jobs, const char *pattern, const char *class_, uint64_t seed,
                     assay_error *error);
void vector_jobs_free(vector_jobs *jobs);

/* Makes every set and its file in `directory` (NULL: a temporary one; the files are hashed and
 * removed); `keep` says which files stay. A failed job does not stop the others. */
int vector_jobs_run(vector_jobs *jobs, const char *directory, bool (*keep)(const vector_job *),
                    int threads, assay_error *error);

#endif
