/* The checkpoint of sweeps: a JSON file beside the results, one entry for each adapter and recipe. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_sweep.h"

char *sweep_checkpoint_path(const run_state *s)
{
    char *path = NULL;
    if (!s->o->out || asprintf(&path, "%s.sweep", s->o->out) < 0)
        return NULL;
    return path;
}

/* The same adapter in the same version, the same contract, the same part. */
static char *key_of(const sweep *w)
{
    const assay_description *d = &w->adapter->w.description;
    char *key = NULL;
    return asprintf(&key, "%s | %s %s %s | %s | %s | %d/%d", w->adapter->spec.text, d->library,
                    d->version, d->device, w->program->name, w->program->sha256, w->run->o->shard,
                    w->run->o->shards) < 0
               ? NULL
               : key;
}

static json_t *load(const char *path)
{
    json_t *root = path ? json_load_file(path, 0, NULL) : NULL;
    if (json_is_object(root))
        return root;
    if (path && !access(path, F_OK))
        fprintf(stderr, "assay: %s: is no checkpoint of a sweep: the sweep begins anew\n", path);
    json_decref(root);
    return json_object();
}

/* ---- counts ---- */

static json_t *numbers(const int64_t *n, int count)
{
    json_t *list = json_array(); /* pairs: index, value */
    for (int i = 0; i < count; i++)
        if (n[i]) {
            json_array_append_new(list, json_integer(i));
            json_array_append_new(list, json_integer((json_int_t)n[i]));
        }
    return list;
}

static void take_numbers(const json_t *list, int64_t *n, int count)
{
    for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
        json_int_t at = json_integer_value(json_array_get(list, i));
        if (at >= 0 && at < count)
            n[at] = json_integer_value(json_array_get(list, i + 1));
    }
}

static json_t *tally_json(const compare_tally *t)
{
    json_t *outputs = json_array();
    for (int i = 0; i < t->program->output_count; i++) {
        const compare_histogram *h = &t->outputs[i];
        json_array_append_new(
            outputs, json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "buckets",
                               numbers(h->buckets, COMPARE_BUCKETS), "compared",
                               numbers(h->compared, COMPARE_PLACES), "different",
                               numbers(h->different, COMPARE_PLACES), "not_numbers",
                               (json_int_t)h->not_numbers, "sign_of_zero",
                               (json_int_t)h->sign_of_zero, "max_ulp", (json_int_t)h->max_ulp));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "cases", (json_int_t)t->cases,
                     "mismatched_cases", (json_int_t)t->mismatched_cases, "elements",
                     (json_int_t)t->elements, "mismatched_elements",
                     (json_int_t)t->mismatched_elements, "acceptable", (json_int_t)t->acceptable,
                     "max_ulp", (json_int_t)t->max_ulp, "outputs", outputs);
}

static json_int_t integer(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static void take_tally(const json_t *o, compare_tally *t)
{
    t->cases = integer(o, "cases");
    t->mismatched_cases = integer(o, "mismatched_cases");
    t->elements = integer(o, "elements");
    t->mismatched_elements = integer(o, "mismatched_elements");
    t->acceptable = integer(o, "acceptable");
    t->max_ulp = (uint64_t)integer(o, "max_ulp");
    for (int i = 0; i < t->program->output_count; i++) {
        const json_t *h = json_array_get(json_object_get(o, "outputs"), (size_t)i);
        compare_histogram *to = &t->outputs[i];
        take_numbers(json_object_get(h, "buckets"), to->buckets, COMPARE_BUCKETS);
        take_numbers(json_object_get(h, "compared"), to->compared, COMPARE_PLACES);
        take_numbers(json_object_get(h, "different"), to->different, COMPARE_PLACES);
        to->not_numbers = integer(h, "not_numbers");
        to->sign_of_zero = integer(h, "sign_of_zero");
        to->max_ulp = (uint64_t)integer(h, "max_ulp");
    }
}

/* ---- the entry of a sweep ---- */

int sweep_save(sweep *w, assay_error *error)
{
    char *path = sweep_checkpoint_path(w->run), *key = key_of(w);
    if (!path || !key) {
        free(path), free(key);
        return 0;
    }
    char done[SWEEP_CHUNKS + 1];
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < SWEEP_CHUNKS; i++)
        done[i] = w->done[i] ? '1' : '0';
    done[SWEEP_CHUNKS] = '\0';
    const run_verdict *v = &w->verdict;
    json_t *entry = json_pack("{s:s, s:o, s:s, s:s, s:i, s:f, s:I, s:f}", "done", done, "tally",
                              tally_json(&v->tally), "verdict", verdict_name(v->kind), "reason",
                              v->reason, "broken", v->broken_cases, "seconds", v->seconds,
                              "first_input", (json_int_t)w->first_input, "smallest", w->smallest);
    if (v->first)
        json_object_set(entry, "first", v->first);
    if (v->smallest)
        json_object_set(entry, "smallest_failure", v->smallest);
    pthread_mutex_unlock(&w->lock);
    json_t *root = load(path);
    json_object_set_new(root, key, entry);
    char *text = json_dumps(root, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(root);
    int status = text ? write_file_atomically(path, text, strlen(text), error)
                      : assay_fail(error, "%s: out of memory", path);
    free(text), free(path), free(key);
    return status;
}

void sweep_restore(sweep *w)
{
    char *path = sweep_checkpoint_path(w->run), *key = key_of(w);
    json_t *root = load(path);
    const json_t *entry = key ? json_object_get(root, key) : NULL;
    const char *done = json_string_value(json_object_get(entry, "done"));
    verdict_kind kind;
    const char *word = json_string_value(json_object_get(entry, "verdict"));
    if (done && strlen(done) == SWEEP_CHUNKS && word && verdict_find(word, &kind)) {
        run_verdict *v = &w->verdict;
        for (int i = 0; i < SWEEP_CHUNKS; i++) {
            w->done[i] = done[i] == '1';
            w->finished += w->done[i];
        }
        take_tally(json_object_get(entry, "tally"), &v->tally);
        v->kind = kind;
        const char *reason = json_string_value(json_object_get(entry, "reason"));
        snprintf(v->reason, sizeof v->reason, "%s", reason ? reason : "");
        v->broken_cases = (int)integer(entry, "broken");
        v->seconds = json_number_value(json_object_get(entry, "seconds"));
        w->first_input = (uint32_t)integer(entry, "first_input");
        w->smallest = json_number_value(json_object_get(entry, "smallest"));
        v->first = json_incref(json_object_get(entry, "first"));
        v->smallest = json_incref(json_object_get(entry, "smallest_failure"));
        fprintf(stderr, "assay: %s, %s: goes on at %d of %d parts (%s)\n", v->adapter,
                w->program->name, w->finished, w->mine, path);
    }
    json_decref(root);
    free(path), free(key);
}
