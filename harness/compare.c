#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t bucket_ends[COMPARE_BUCKETS] = {-65, -17, -9, -5, -3, -2, -1, 0,
                                                     1,   2,   4,  8,  16, 64, INT64_MAX};

void compare_bucket(int bucket, int64_t *from, int64_t *to)
{
    *from = bucket ? bucket_ends[bucket - 1] + 1 : INT64_MIN;
    *to = bucket_ends[bucket];
}

static int bucket_of(int64_t distance)
{
    int b = 0;
    while (distance > bucket_ends[b])
        b++;
    return b;
}

uint64_t compare_code(const void *data, int64_t at, int bytes)
{
    uint64_t code = 0;
    memcpy(&code, (const uint8_t *)data + at * bytes, (size_t)bytes);
    return code;
}

int compare_init(compare_tally *t, const assay_program *p)
{
    *t = (compare_tally){.program = p};
    t->outputs = calloc((size_t)p->output_count + 1, sizeof *t->outputs);
    return t->outputs ? 0 : -1;
}

void compare_free(compare_tally *t)
{
    free(t->outputs);
    t->outputs = NULL;
}

/* A code may have bits above its width when the adapter wrote rubbish: no format has such a code. */
static bool is_code(assay_type t, uint64_t code)
{
    if (t.kind != ASSAY_T_FORMAT)
        return true;
    int width = assay_format_width(t.format);
    return width == 64 || code >> width == 0;
}

bool compare_distance(assay_type t, uint64_t expected, uint64_t got, int64_t *distance)
{
    if (!is_code(t, got))
        return false;
    if (t.kind == ASSAY_T_I32) {
        *distance = (int64_t)(int32_t)(uint32_t)got - (int32_t)(uint32_t)expected;
        return true;
    }
    if (t.kind != ASSAY_T_FORMAT) {
        *distance = (int64_t)(got - expected);
        return true;
    }
    if (assay_decode(t.format, expected).class_ == ASSAY_CLASS_NAN ||
        assay_decode(t.format, got).class_ == ASSAY_CLASS_NAN)
        return false;
    int64_t a = assay_ordinal(t.format, got), b = assay_ordinal(t.format, expected);
    if (__builtin_sub_overflow(a, b, distance)) /* f64, from one end to the other */
        *distance = a < b ? -INT64_MAX : INT64_MAX;
    return true;
}

/* Where a right value belongs in the tables by exponent. */
static int place_of(assay_type t, uint64_t code)
{
    if (t.kind != ASSAY_T_FORMAT)
        return code ? 63 - __builtin_clzll(code) - COMPARE_EXPONENT_MIN : COMPARE_ZERO;
    assay_parts v = assay_decode(t.format, code);
    switch (v.class_) {
    case ASSAY_CLASS_ZERO:
        return COMPARE_ZERO;
    case ASSAY_CLASS_INFINITY:
        return COMPARE_INF;
    case ASSAY_CLASS_NAN:
        return COMPARE_NAN;
    default:
        return 63 - __builtin_clzll(v.significand) + v.exponent - COMPARE_EXPONENT_MIN;
    }
}

/* Table of places for formats of at most 8 bits, so that counting keeps up with a sweep. */
typedef struct {
    assay_type type;
    bool small;
    int16_t place[256];
} places;

static places places_of(assay_type t)
{
    places p = {.type = t};
    p.small = t.kind == ASSAY_T_FORMAT && assay_format_width(t.format) <= 8;
    for (unsigned c = 0; p.small && c < 1u << assay_format_width(t.format); c++)
        p.place[c] = (int16_t)place_of(t, c);
    return p;
}

static int place_in(const places *p, uint64_t code)
{
    return p->small ? p->place[code & 255] : place_of(p->type, code);
}

/* ---- which failure to show ---- */

void compare_region(const assay_program *p, int64_t m, int64_t k, int output, int64_t row,
                    int64_t col, int64_t *row0, int64_t *row1, int64_t *col0, int64_t *col1)
{
    assay_tile tile = p->values[p->outputs[output]].tile;
    int64_t r = tile.rows ? row * tile.rows : 0, c = tile.cols ? col * tile.cols : 0;
    if (tile.rows == 1 && tile.cols == 1)
        for (int i = 0; i < p->statement_count; i++) {
            assay_tile s = p->statements[i].tile;
            if (s.rows > 0 && s.cols > 0 && s.rows * s.cols > tile.rows * tile.cols)
                tile = s;
        }
    *row0 = tile.rows ? r / tile.rows * tile.rows : 0;
    *col0 = tile.cols ? c / tile.cols * tile.cols : 0;
    *row1 = tile.rows && *row0 + tile.rows < m ? *row0 + tile.rows : m;
    *col1 = tile.cols && *col0 + tile.cols < k ? *col0 + tile.cols : k;
}

static void weigh(const assay_program *p, const assay_case *c, compare_failure *f)
{
    int main = -1;
    for (int i = 0; i < p->input_count; i++)
        if (p->inputs[i] == p->main_input)
            main = i;
    if (main < 0 || !c->inputs[main].data)
        return;
    assay_type t = p->values[p->main_input].type;
    int bytes = assay_type_storage(t);
    int64_t r0, r1, c0, c1;
    compare_region(p, c->m, c->k, f->output, f->row, f->col, &r0, &r1, &c0, &c1);
    for (int64_t i = r0; i < r1; i++)
        for (int64_t j = c0; j < c1; j++) {
            int place = place_of(t, compare_code(c->inputs[main].data, i * c->k + j, bytes));
            if (place != COMPARE_ZERO) {
                f->nonzero++;
                f->magnitude += fabs((double)(place + COMPARE_EXPONENT_MIN));
            }
        }
}

static void note_failure(compare_tally *t, const assay_case *c, compare_failure f)
{
    f.set = true;
    if (!t->first.set)
        t->first = f;
    if (t->weighed++ > 20000) /* enough to choose from */
        return;
    weigh(t->program, c, &f);
    const compare_failure *s = &t->smallest;
    if (!s->set || f.nonzero < s->nonzero ||
        (f.nonzero == s->nonzero && f.magnitude < s->magnitude))
        t->smallest = f;
}

/* ---- one output ---- */

/* All codes are right and judged, and there are at most 256 of them: counted by code, as fast as a
 * sweep makes them. */
static bool count_equal(compare_histogram *h, const places *p, const assay_grid *right,
                        const void *observed)
{
    size_t n = (size_t)(right->rows * right->cols);
    if (!p->small || memcmp(right->data, observed, n) ||
        (right->marks && memchr(right->marks, 1, n)))
        return false;
    const uint8_t *codes = right->data;
    uint32_t count[4][256] = {{0}}; /* four, so that equal codes in a row do not wait */
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++)
            count[j][codes[i + j]]++;
    for (; i < n; i++)
        count[0][codes[i]]++;
    for (int c = 0; c < 256; c++)
        for (int j = 0; j < 4; j++)
            h->compared[p->place[c]] += count[j][c];
    h->buckets[bucket_of(0)] += (int64_t)n;
    return true;
}

static void count_one(compare_histogram *h, const places *p, uint64_t expected, uint64_t got,
                      bool same)
{
    int place = place_in(p, expected);
    h->compared[place]++;
    if (same) {
        h->buckets[bucket_of(0)]++;
        return;
    }
    h->different[place]++;
    int64_t distance;
    if (!compare_distance(p->type, expected, got, &distance)) {
        h->not_numbers++;
    } else if (distance == 0) {
        h->sign_of_zero++;
    } else {
        uint64_t size = distance < 0 ? 0 - (uint64_t)distance : (uint64_t)distance;
        h->buckets[bucket_of(distance)]++;
        h->max_ulp = size > h->max_ulp ? size : h->max_ulp;
    }
}

/* Does the contract accept the observed code although it is another one? */
static bool accepts(const assay_value *v, uint64_t expected, uint64_t got)
{
    if (v->type.kind != ASSAY_T_FORMAT || !is_code(v->type, got))
        return false;
    assay_class a = assay_decode(v->type.format, expected).class_;
    assay_class b = assay_decode(v->type.format, got).class_;
    return a == b && ((v->any_nan && a == ASSAY_CLASS_NAN) || (v->any_zero && a == ASSAY_CLASS_ZERO));
}

typedef struct {
    int64_t judged, wrong;
} outcome;

/* `verdict`: from the exact judge, or NULL: by code and marks. */
static outcome compare_output(compare_tally *t, const assay_case *c, int case_index, int output,
                              const void *observed, const uint8_t *verdict)
{
    const assay_value *v = &t->program->values[t->program->outputs[output]];
    const assay_grid *right = &c->outputs[output];
    int bytes = assay_type_storage(v->type);
    int64_t n = right->rows * right->cols;
    places table = places_of(v->type);
    compare_histogram *h = &t->outputs[output];
    outcome o = {0, 0};
    if (!verdict && n < INT32_MAX && count_equal(h, &table, right, observed))
        return (outcome){n, 0};
    for (int64_t i = 0; i < n; i++) {
        uint64_t expected = compare_code(right->data, i, bytes);
        uint64_t got = compare_code(observed, i, bytes);
        bool marked = verdict ? verdict[i] == 2 : right->marks && right->marks[i];
        bool same = expected == got;
        if (!same && !marked && (verdict ? verdict[i] == 0 : accepts(v, expected, got))) {
            t->acceptable++;
            same = true;
        } else if (marked) {
            t->acceptable += !same;
            continue;
        }
        o.judged++;
        count_one(h, &table, expected, got, same);
        if (same)
            continue;
        o.wrong++;
        note_failure(t, c, (compare_failure){.case_index = case_index, .output = output,
                                             .row = i / right->cols, .col = i % right->cols,
                                             .expected = expected, .got = got});
    }
    t->max_ulp = h->max_ulp > t->max_ulp ? h->max_ulp : t->max_ulp;
    return o;
}

static uint8_t **judge(const compare_tally *t, const assay_case *c, const assay_grid *observed,
                       assay_error *error)
{
    const assay_program *p = t->program;
    uint8_t **verdict = calloc((size_t)p->output_count + 1, sizeof *verdict);
    bool ok = verdict != NULL;
    for (int i = 0; ok && i < p->output_count; i++)
        ok = (verdict[i] = malloc((size_t)(c->outputs[i].rows * c->outputs[i].cols) + 1)) != NULL;
    if (!ok)
        assay_fail(error, "out of memory");
    else
        ok = assay_exact_judge(p, c->m, c->k, c->inputs, observed, verdict, error) == 0;
    if (ok)
        return verdict;
    for (int i = 0; verdict && i < p->output_count; i++)
        free(verdict[i]);
    free(verdict);
    return NULL;
}

int compare_case(compare_tally *t, const assay_case *c, int case_index, const assay_grid *observed,
                 assay_error *error)
{
    const assay_program *p = t->program;
    uint8_t **verdict = NULL;
    if (p->approx_count > 0 && !(verdict = judge(t, c, observed, error)))
        return -1;
    outcome all = {0, 0};
    for (int i = 0; i < p->output_count; i++) {
        outcome o = compare_output(t, c, case_index, i, observed[i].data,
                                   verdict ? verdict[i] : NULL);
        all.judged += o.judged;
        all.wrong += o.wrong;
        if (verdict)
            free(verdict[i]);
    }
    free(verdict);
    t->cases += all.judged > 0;
    t->mismatched_cases += all.wrong > 0;
    t->elements += all.judged;
    t->mismatched_elements += all.wrong;
    return all.wrong == 0;
}

void compare_add(compare_tally *t, const compare_tally *from)
{
    for (int i = 0; i < t->program->output_count; i++) {
        compare_histogram *a = &t->outputs[i];
        const compare_histogram *b = &from->outputs[i];
        for (int j = 0; j < COMPARE_BUCKETS; j++)
            a->buckets[j] += b->buckets[j];
        for (int j = 0; j < COMPARE_PLACES; j++) {
            a->compared[j] += b->compared[j];
            a->different[j] += b->different[j];
        }
        a->not_numbers += b->not_numbers;
        a->sign_of_zero += b->sign_of_zero;
        a->max_ulp = b->max_ulp > a->max_ulp ? b->max_ulp : a->max_ulp;
    }
    t->cases += from->cases;
    t->mismatched_cases += from->mismatched_cases;
    t->elements += from->elements;
    t->mismatched_elements += from->mismatched_elements;
    t->acceptable += from->acceptable;
    t->max_ulp = from->max_ulp > t->max_ulp ? from->max_ulp : t->max_ulp;
    if (!t->first.set)
        t->first = from->first;
    if (!t->smallest.set)
        t->smallest = from->smallest;
}
