/* Where a vector set comes from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../vectors/manifest.h"
#include "run.h"

/* The golden set of that name, if it is there and of this recipe as it is now. */
static assay_vector_set *golden(const run_state *s, const assay_program *p, const char *class_)
{
    char *file = manifest_file_name(p->name, class_), *path = NULL;
    assay_vector_set *set = NULL;
    if (!s->selection.own && file && asprintf(&path, "%s/%s", s->o->dir, file) >= 0 &&
        access(path, R_OK) == 0) {
        assay_error error;
        set = assay_vectors_read(path, &error);
        if (!set)
            fprintf(stderr, "assay: %s\nassay: the vectors are made anew for this run; "
                            "`assay vectors check` says more\n", error.message);
        else if (strcmp(set->program->sha256, p->sha256) || strcmp(set->class_, class_) ||
                 set->seed != s->o->seed) {
            assay_vectors_free(set);
            set = NULL;
        }
    }
    free(path);
    free(file);
    return set;
}

assay_vector_set *run_vectors(const run_state *s, const char *instance, const char *class_,
                              assay_error *error)
{
    assay_program *p = run_selected_program(&s->selection, instance, error);
    if (!p)
        return NULL;
    assay_vector_set *set = golden(s, p, class_);
    if (!set)
        return assay_vectors_make(p, class_, s->o->seed, error);
    assay_program_free(p);
    return set;
}
