/* One verdict: its making, and its JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "results.h"

#define VERDICT_WORD(id, word) word,
static const char *const words[] = {VERDICTS(VERDICT_WORD)};
#undef VERDICT_WORD

const char *verdict_name(verdict_kind v)
{
    return words[v];
}

bool verdict_find(const char *name, verdict_kind *v)
{
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (!strcmp(words[i], name)) {
            *v = (verdict_kind)i;
            return true;
        }
    return false;
}

int verdict_init(run_verdict *v, const char *adapter, const assay_program *p, const char *class_)
{
    memset(v, 0, sizeof *v);
    v->adapter = adapter;
    v->program = p;
    v->class_ = class_;
    v->kind = VERDICT_PASS;
    return compare_init(&v->tally, p);
}

void verdict_free(run_verdict *v)
{
    compare_free(&v->tally);
    json_decref(v->first);
    json_decref(v->smallest);
    json_decref(v->diagnosis);
    free(v->printed);
}

void verdict_worsen(run_verdict *v, verdict_kind kind, const char *format, ...)
{
    if (kind <= v->kind)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->reason, sizeof v->reason, format, arguments);
    va_end(arguments);
    v->kind = kind;
}

void verdict_conclude(run_verdict *v)
{
    const compare_tally *t = &v->tally;
    if (v->kind == VERDICT_UNSUPPORTED && t->cases > 0) {
        v->kind = VERDICT_PASS; /* some shapes only: the rest was judged */
        v->reason[0] = '\0';
    }
    if (t->mismatched_elements > 0)
        verdict_worsen(v, VERDICT_FAIL, "%" PRId64 " of %" PRId64 " codes differ, in %" PRId64
                       " of %" PRId64 " cases", t->mismatched_elements, t->elements,
                       t->mismatched_cases, t->cases);
    else if (t->acceptable > 0)
        verdict_worsen(v, VERDICT_ACCEPTABLE, "%" PRId64 " codes differ where the contract leaves "
                       "them open", t->acceptable);
    if (v->kind == VERDICT_PASS && t->cases == 0)
        verdict_worsen(v, VERDICT_ERROR, "no case was executed");
}

int verdict_status(verdict_kind v, bool acceptable_fails)
{
    switch (v) {
    case VERDICT_PASS:
    case VERDICT_UNSUPPORTED:
        return STATUS_OK;
    case VERDICT_ACCEPTABLE:
        return acceptable_fails ? STATUS_DIFFERS : STATUS_OK;
    case VERDICT_FAIL:
    case VERDICT_UNWRITTEN:
    case VERDICT_NONDETERMINISTIC:
        return STATUS_DIFFERS;
    default:
        return STATUS_ADAPTER;
    }
}

/* ---- JSON ---- */

/* An integer, or its decimal text where a double cannot hold it. */
static json_t *big(int64_t n)
{
    if (n > -(INT64_C(1) << 53) && n < INT64_C(1) << 53)
        return json_integer(n);
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, n);
    return json_string(text);
}

static json_t *big_unsigned(uint64_t n)
{
    if (n < UINT64_C(1) << 53)
        return json_integer((json_int_t)n);
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, n);
    return json_string(text);
}

static json_t *codes_json(const compare_histogram *h)
{
    json_t *list = json_array();
    for (int b = 0; b < COMPARE_BUCKETS; b++) {
        int64_t from, to;
        compare_bucket(b, &from, &to);
        if (h->buckets[b])
            json_array_append_new(list, json_pack("{s:o, s:o, s:I}", "from", big(from), "to",
                                                  big(to), "count", (json_int_t)h->buckets[b]));
    }
    return list;
}

static json_t *exponents_json(const compare_histogram *h)
{
    json_t *list = json_array();
    for (int i = 0; i < COMPARE_PLACES; i++) {
        if (!h->compared[i])
            continue;
        json_t *where = i == COMPARE_ZERO  ? json_string("zero")
                        : i == COMPARE_INF ? json_string("inf")
                        : i == COMPARE_NAN ? json_string("nan")
                                           : json_integer(i + COMPARE_EXPONENT_MIN);
        json_array_append_new(list, json_pack("{s:o, s:I, s:I}", "exponent", where, "compared",
                                              (json_int_t)h->compared[i], "different",
                                              (json_int_t)h->different[i]));
    }
    return list;
}

static json_t *histogram_json(const run_verdict *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->program->output_count; i++) {
        const assay_value *value = &v->program->values[v->program->outputs[i]];
        const compare_histogram *h = &v->tally.outputs[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:I, s:I, s:o}", "output", value->name, "format",
                            assay_type_name(value->type), "codes", codes_json(h), "not_numbers",
                            (json_int_t)h->not_numbers, "sign_of_zero",
                            (json_int_t)h->sign_of_zero, "exponents", exponents_json(h)));
    }
    return list;
}

json_t *verdict_json(const run_verdict *v)
{
    const compare_tally *t = &v->tally;
    json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "adapter", v->adapter, "recipe",
                          v->program->name, "class", v->class_, "verdict", verdict_name(v->kind));
    if (*v->reason)
        json_object_set_new(o, "reason", json_string(v->reason));
    json_object_set_new(o, "cases", json_integer(t->cases));
    json_object_set_new(o, "mismatched_cases", json_integer(t->mismatched_cases));
    json_object_set_new(o, "elements", json_integer(t->elements));
    json_object_set_new(o, "mismatched_elements", json_integer(t->mismatched_elements));
    json_object_set_new(o, "acceptable", json_integer(t->acceptable));
    json_object_set_new(o, "max_ulp", big_unsigned(t->max_ulp));
    if (t->elements)
        json_object_set_new(o, "histogram", histogram_json(v));
    json_object_set(o, "first", v->first ? v->first : json_null());
    json_object_set(o, "smallest", v->smallest ? v->smallest : json_null());
    json_object_set(o, "diagnosis", v->diagnosis ? v->diagnosis : json_null());
    if (*v->domain) {
        json_object_set_new(o, "domain", json_string(v->domain));
        json_object_set_new(o, "domain_size", big_unsigned(v->domain_size));
    }
    json_object_set_new(o, "seconds", json_real(v->seconds));
    if (v->printed && *v->printed)
        json_object_set_new(o, "output_tail", json_string(v->printed));
    if (*v->signal)
        json_object_set_new(o, "signal", json_string(v->signal));
    return o;
}
