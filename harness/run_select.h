/* From the words of --recipe to checked instances. */
#ifndef ASSAY_RUN_SELECT_H
#define ASSAY_RUN_SELECT_H

#include "../vectors/vector_set.h"

typedef struct {
    char **names;          /* instance names, each once, in order */
    int count;
    assay_recipe *own;     /* of --recipe-file; NULL */
    char *own_text;
} run_selection;

/* `globs`: comma-separated (commas inside parentheses do not separate); NULL: all. A glob without
 * parentheses matches recipes and takes their primary instances; with parentheses it matches
 * instances; `NAME(P=V)` without wildcard is that instance, what is left out taking its default.
 * `file`: a recipe file to take recipes from, instead of the catalogue; or NULL. 0, or -1. */
int run_select(const char *globs, const char *file, run_selection *s, assay_error *error);
void run_selection_free(run_selection *s);
/* The checked program of a selected name. */
assay_program *run_selected_program(const run_selection *s, const char *name, assay_error *error);

/* Splits at commas outside parentheses and quotes; malloc'd array of malloc'd strings. */
char **run_split(const char *list, int *count);
void run_split_free(char **words, int count);

#endif
