/* Fuzz target: any bytes either make a recipe, whose checked instances print as texts that parse
 * back to themselves, or give a message with a place. Recipes of the catalogue may be used. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/assay.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { INSTANCES = 12 }; /* of each recipe; more say little and take long */

static assay_recipe *find(void *context, const char *name)
{
    (void)context;
    assay_error unused;
    return assay_catalogue_find(name, &unused);
}

static void need_place(const assay_error *error)
{
    if (strncmp(error->message, "fuzz:", 5) && !strstr(error->message, ": error: "))
        abort();
}

/* Canonical text is a fixed point. */
static void check_text(const assay_program *p)
{
    assay_error error;
    assay_recipe *r = NULL;
    if (assay_recipe_parse_canonical(p->canonical, strlen(p->canonical), "fuzz", &r, &error))
        abort();
    assay_program *again = assay_recipe_instance(r, NULL, NULL, NULL, &error);
    if (!again || strcmp(again->canonical, p->canonical) || strcmp(again->sha256, p->sha256) ||
        again->expr_count != p->expr_count)
        abort();
    assay_program_free(again);
    assay_recipe_free(r);
    assay_program *copy = assay_program_copy(p);
    assay_program_identify(copy);
    if (strcmp(copy->sha256, p->sha256))
        abort();
    assay_program_free(copy);
    assay_program_admits(p, 3, 48, NULL);
}

static void check_recipe(const assay_recipe *r)
{
    int count = assay_recipe_instance_count(r);
    for (int i = 0; i < count && i < INSTANCES; i++) {
        assay_error error;
        char *name = assay_recipe_instance_name(r, (int)((int64_t)i * count / INSTANCES % count));
        char *choices = strchr(name, '(');
        if (choices) {
            choices[strlen(choices) - 1] = 0;
            choices++;
        }
        assay_program *p = assay_recipe_instance(r, choices, find, NULL, &error);
        if (p)
            check_text(p);
        else
            need_place(&error);
        assay_program_free(p);
        free(name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    assay_error error = {""};
    assay_recipe *r = NULL, *decode = NULL;
    if (assay_recipe_parse((const char *)bytes, size, "fuzz", &r, &decode, &error)) {
        need_place(&error);
        return 0;
    }
    check_recipe(r);
    if (decode)
        check_recipe(decode);
    assay_recipe_free(r);
    return 0;
}
