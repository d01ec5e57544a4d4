/* Where a vector set comes from. */
#include <string.h>

#include "run.h"

assay_vector_set *run_vectors(const run_state *s, const char *instance, const char *class_,
                              assay_error *error)
{
    assay_program *p = run_selected_program(&s->selection, instance, error);
    if (!p)
        return NULL;
    return assay_vectors_make(p, class_, s->o->seed, error);
}
