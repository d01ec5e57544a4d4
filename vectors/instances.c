/* Primary instances: a small choice that has every alternative of every parameter, and as many
 * pairs of alternatives as there is room for. Greedy, and the same every time. */
#include <stdlib.h>
#include <string.h>

#include "vector_set.h"

enum { PARAMETERS = 16, ROOM = 24, WORDS = 512 };

/* choice[p] of an instance: the number of its alternative of parameter p, -1: it has none. */
typedef struct {
    char *name;
    short choice[PARAMETERS];
    bool chosen;
} candidate;

typedef struct {
    candidate *list;
    int count, parameters;
    int alternatives[PARAMETERS];
    unsigned char *single;  /* [p * WORDS + a]: covered */
    unsigned char *pair;    /* [((p * PARAMETERS + q) * 32 + a) * 32 + b] */
} cover;

/* The alternative of parameter `name` in "R(P=V, Q=W)", as text of length *n. */
static const char *value_in(const char *instance, const char *name, size_t *n)
{
    const char *open = strchr(instance, '(');
    size_t length = strlen(name);
    for (const char *at = open ? open + 1 : NULL; at && *at; at += *at != 0) {
        at += strspn(at, ", ");
        if (!strncmp(at, name, length) && at[length] == '=') {
            *n = strcspn(at + length + 1, ",)");
            return at + length + 1;
        }
        at += strcspn(at, ",)");
    }
    return NULL;
}

static void read_choices(candidate *c, const assay_parameter *all, int n)
{
    for (int p = 0; p < n; p++) {
        size_t length;
        const char *value = value_in(c->name, all[p].name, &length);
        c->choice[p] = -1;
        for (int a = 0; value && a < all[p].choice_count; a++)
            if (strlen(all[p].choices[a]) == length && !strncmp(all[p].choices[a], value, length))
                c->choice[p] = (short)a;
    }
}

static unsigned char *pair_at(const cover *v, const candidate *c, int p, int q)
{
    if (c->choice[p] < 0 || c->choice[q] < 0 || c->choice[p] > 31 || c->choice[q] > 31)
        return NULL;
    return &v->pair[((p * PARAMETERS + q) * 32 + c->choice[p]) * 32 + c->choice[q]];
}

static int gain_single(const cover *v, const candidate *c)
{
    int gain = 0;
    for (int p = 0; p < v->parameters; p++)
        gain += c->choice[p] >= 0 && !v->single[p * WORDS + c->choice[p]];
    return gain;
}

static int gain_pairs(const cover *v, const candidate *c)
{
    int gain = 0;
    for (int p = 0; p < v->parameters; p++)
        for (int q = p + 1; q < v->parameters; q++) {
            const unsigned char *at = pair_at(v, c, p, q);
            gain += at && !*at;
        }
    return gain;
}

static void choose(cover *v, candidate *c)
{
    c->chosen = true;
    for (int p = 0; p < v->parameters; p++) {
        if (c->choice[p] >= 0)
            v->single[p * WORDS + c->choice[p]] = 1;
        for (int q = p + 1; q < v->parameters; q++) {
            unsigned char *at = pair_at(v, c, p, q);
            if (at)
                *at = 1;
        }
    }
}

/* The candidate that covers most that is new, first by alternatives, then by pairs. */
static candidate *best(const cover *v, bool pairs)
{
    candidate *found = NULL;
    int most = 0;
    for (int i = 0; i < v->count; i++) {
        candidate *c = &v->list[i];
        int gain = c->chosen ? 0
                   : pairs   ? gain_pairs(v, c)
                             : gain_single(v, c) * 256 + (gain_single(v, c) ? gain_pairs(v, c) : 0);
        if (gain > most) {
            most = gain;
            found = c;
        }
    }
    return found;
}

static int pick(cover *v)
{
    int chosen = 0;
    candidate *c;
    if (v->count) {
        choose(v, &v->list[0]);
        chosen++;
    }
    while ((c = best(v, false))) {
        choose(v, c);
        chosen++;
    }
    while (chosen < ROOM && (c = best(v, true))) {
        choose(v, c);
        chosen++;
    }
    return chosen;
}

int assay_primary_instances(const assay_recipe *r, char ***names)
{
    const assay_parameter *all;
    cover v = {.count = assay_recipe_instance_count(r)};
    v.parameters = assay_recipe_parameters(r, &all);
    if (v.parameters > PARAMETERS)
        v.parameters = PARAMETERS;
    v.list = calloc((size_t)v.count + 1, sizeof *v.list);
    v.single = calloc(PARAMETERS * WORDS, 1);
    v.pair = calloc((size_t)PARAMETERS * PARAMETERS * 32 * 32, 1);
    *names = calloc((size_t)v.count + 1, sizeof **names);
    int n = 0;
    if (v.list && v.single && v.pair && *names) {
        for (int i = 0; i < v.count; i++) {
            v.list[i].name = assay_recipe_instance_name(r, i);
            read_choices(&v.list[i], all, v.parameters);
        }
        pick(&v);
        for (int i = 0; i < v.count; i++)
            if (v.list[i].chosen) {
                (*names)[n++] = v.list[i].name;
                v.list[i].name = NULL;
            }
    }
    for (int i = 0; v.list && i < v.count; i++)
        free(v.list[i].name);
    free(v.list);
    free(v.single);
    free(v.pair);
    return n;
}
