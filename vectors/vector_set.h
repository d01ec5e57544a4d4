/* A vector set: the cases of one class for one recipe instance, with golden answers. One file. */
#ifndef ASSAY_VECTOR_SET_H
#define ASSAY_VECTOR_SET_H

#include "../ref/recipe_eval.h"

/* One case: a matrix, the inputs, and what the contract says of them. */
typedef struct {
    const char *tag;       /* what is in it, in a word or two: "ties", "inf in lane 3" */
    int64_t m, k;
    assay_grid *inputs;    /* program->input_count of them, in that order */
    assay_grid *outputs;   /* program->output_count; with marks */
} assay_case;

typedef struct {
    const char *recipe;    /* instance name */
    const char *class_;    /* "special", "edges", ... */
    uint64_t seed;
    assay_program *program; /* owned */
    assay_case *cases;
    int case_count;
    void *arena;           /* private: owns everything above */
} assay_vector_set;

/* The input classes: one table row each. `generate` appends cases (inputs only) to the set. */
typedef struct {
    const char *name;
    const char *summary;
    bool (*applies)(const assay_program *p);
    int (*generate)(assay_vector_set *set, assay_error *error);
} assay_class_row;
extern const assay_class_row assay_classes[];
extern const int assay_class_count;
const assay_class_row *assay_class_find(const char *name);

/* Generates inputs of a class for a program (takes ownership of it), evaluates them with the exact
 * evaluator, confirms with the fast one (a difference is an error that names case and code).
 * NULL and `error` on failure; a class that yields no case for the recipe gives case_count 0. */
assay_vector_set *assay_vectors_make(assay_program *p, const char *class_, uint64_t seed,
                                     assay_error *error);
/* Golden answers anew for the inputs that the set already has (checks). */
int assay_vectors_answer(assay_vector_set *set, assay_error *error);
void assay_vectors_free(assay_vector_set *set);

/* Class "real": one case whose main input is the user's m x k matrix (copied; any alignment) and
 * whose further inputs are generated from it. Up to 2^20 elements are answered by both evaluators,
 * larger matrices by the fast one alone. Takes ownership of the program. */
assay_vector_set *assay_vectors_from_tensor(assay_program *p, const char *tag, int64_t m, int64_t k,
                                            const void *data, uint64_t seed, assay_error *error);

/* Writes a set as one safetensors file, under a temporary name first. 0, or -1 and `error`. */
int assay_vectors_write(const assay_vector_set *set, const char *path, assay_error *error);
/* Reads a set; the program is made from the recipe name in the file's metadata, and its identity
 * must be the file's, else error. */
assay_vector_set *assay_vectors_read(const char *path, assay_error *error);

/* The primary instances of a recipe (every alternative of every parameter at least once, and every
 * pair where that stays small): their names, malloc'd array of malloc'd strings. */
int assay_primary_instances(const assay_recipe *r, char ***names);

#endif
