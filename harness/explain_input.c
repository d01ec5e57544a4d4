#include "explain_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../vectors/dtype.h"

/* ---- lists of values ---- */

static int64_t list_length(const char *list)
{
    int64_t n = 1;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

/* A decimal text is often no value of the type: say what was taken for it. */
static void note_rounding(const assay_format *f, const char *text, uint64_t code)
{
    assay_exact x;
    char decimal[64];
    assay_cast cast = assay_cast_default(f);
    if (!strncmp(text, "0x", 2) && !strpbrk(text, "pP."))
        return;
    assay_exact_init(&x);
    if (assay_exact_parse(&x, text) && assay_round(f, &x, &cast, 0).inexact) {
        value_decimal(f, code, decimal, sizeof decimal);
        fprintf(stderr, "assay: %s is not a value of %s: %s is taken\n", text, f->name, decimal);
    }
    assay_exact_clear(&x);
}

/* The i-th item of a comma-separated list as a code of `type`; by way of `from` if given. */
static int list_item(const char *list, int64_t i, assay_type type, const assay_format *from,
                     uint64_t *code)
{
    assay_error error;
    while (i-- > 0)
        list = strchr(list, ',') + 1;
    list += strspn(list, " ");
    size_t n = strcspn(list, ",");
    while (n > 0 && list[n - 1] == ' ')
        n--;
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), list);
    assay_type first = from ? (assay_type){ASSAY_T_FORMAT, from} : type;
    if (eval_parse_value(first, text, code, &error))
        return complain(STATUS_USAGE, "%s", error.message);
    if (first.kind == ASSAY_T_FORMAT)
        note_rounding(first.format, text, *code);
    if (!from || type.format == from)
        return STATUS_OK;
    if (type.kind != ASSAY_T_FORMAT)
        return complain(STATUS_USAGE, "--from %s: the input is %s", from->name,
                        assay_type_name(type));
    assay_cast cast = assay_cast_default(type.format);
    assay_rounded r = assay_convert_code(type.format, from, *code, &cast, 0);
    if (r.inexact)
        return complain(STATUS_USAGE, "%s of %s is not a value of %s: choose an instance that takes "
                        "%s", text, from->name, type.format->name, from->name);
    *code = r.code;
    return STATUS_OK;
}

/* ---- the instance ---- */

static int choose_instance(const explain_options *o, explain_input *in, const char *dtype)
{
    assay_error why = {""};
    /* No tensor has the dtype "": this makes the instance of the user's choices alone. */
    const eval_instance *found = eval_instance_for(&in->plan, dtype ? dtype : "", &why);
    if (!found && !dtype)
        found = in->plan.instances;
    if (!found)
        return complain(STATUS_USAGE, "%s", why.message);
    in->program = found->program;
    const assay_program *p = in->program;
    if (p->main_input < 0)
        return complain(STATUS_USAGE, "%s has no input with one value an element: nothing to explain",
                        p->name);
    in->inputs = calloc((size_t)p->input_count + 1, sizeof *in->inputs);
    in->owned = calloc((size_t)p->input_count + 1, sizeof *in->owned);
    (void)o;
    return in->inputs && in->owned ? STATUS_OK : complain(STATUS_FILE, "out of memory");
}

/* ---- inputs ---- */

static eval_setting *setting_of(eval_setting *all, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

static bool is_fed(const assay_program *p, int input)
{
    for (int i = 0; i < p->output_count; i++)
        if (p->values[p->outputs[i]].feeds == input)
            return true;
    return false;
}

/* A grid for input i from a list: one value for all, or one for each. */
static int fill_from_list(explain_input *in, int i, const char *list)
{
    const assay_value *v = &in->program->values[in->program->inputs[i]];
    assay_grid *g = &in->inputs[i];
    int64_t given = list_length(list), n = g->rows * g->cols;
    int size = assay_type_storage(v->type), status = STATUS_OK;
    if (given != 1 && given != n)
        return complain(STATUS_USAGE, "--set %s: %" PRId64 " values, it takes 1 or %" PRId64, v->name,
                        given, n);
    g->data = in->owned[i] = calloc((size_t)n + 1, (size_t)size);
    if (!g->data)
        return complain(STATUS_FILE, "out of memory");
    for (int64_t j = 0; j < n && status == STATUS_OK; j++) {
        uint64_t code;
        status = list_item(list, given == 1 ? 0 : j, v->type, NULL, &code);
        memcpy((char *)g->data + j * size, &code, (size_t)size);
    }
    return status;
}

static int bind_tensor(explain_input *in, int i, const char *name)
{
    const assay_value *v = &in->program->values[in->program->inputs[i]];
    assay_grid *g = &in->inputs[i];
    const safetensors_tensor *t = in->file ? safetensors_find(in->file, name) : NULL;
    int64_t n = 1;
    for (int d = 0; t && d < t->rank; d++)
        n *= t->shape[d];
    if (!t)
        return complain(STATUS_FILE, "--bind %s=%s: there is no such tensor", v->name, name);
    if (!dtype_fits(v->type, t->dtype) || n != g->rows * g->cols)
        return complain(STATUS_FILE, "--bind %s=%s: the tensor holds %" PRId64 " values of %s, "
                        "needed are %" PRId64 " of %s", v->name, name, n, t->dtype,
                        g->rows * g->cols, assay_type_name(v->type));
    g->data = in->owned[i] = malloc((size_t)t->size + 1);
    if (!g->data)
        return complain(STATUS_FILE, "out of memory");
    memcpy(g->data, t->data, (size_t)t->size);
    return STATUS_OK;
}

/* Every input but the main one. */
static int fill_inputs(explain_options *o, explain_input *in)
{
    const assay_program *p = in->program;
    eval_options *e = &o->eval;
    int missing = STATUS_OK;
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        assay_value_shape(v, in->request.m, in->request.k, &in->inputs[i].rows, &in->inputs[i].cols);
        eval_setting *set = setting_of(e->sets, e->set_count, v->name);
        eval_setting *bind = setting_of(e->binds, e->bind_count, v->name);
        int status = STATUS_OK;
        if (set)
            set->used = true;
        if (bind)
            bind->used = true;
        if (p->inputs[i] == p->main_input)
            continue;
        if (set)
            status = fill_from_list(in, i, set->value);
        else if (bind)
            status = bind_tensor(in, i, bind->value);
        else if (!is_fed(p, p->inputs[i]))
            missing = complain(STATUS_USAGE, "%s needs its input %s (%s): give --set %s=VALUE",
                               p->name, v->name, assay_type_name(v->type), v->name);
        if (status != STATUS_OK)
            return status;
    }
    if (missing != STATUS_OK)
        return missing;
    for (int i = 0; i < e->set_count; i++)
        if (!e->sets[i].used)
            return complain(STATUS_USAGE, "--set %s: %s has no such parameter or input",
                            e->sets[i].name, p->name);
    for (int i = 0; i < e->bind_count; i++)
        if (!e->binds[i].used)
            return complain(STATUS_USAGE, "--bind %s: %s has no such input", e->binds[i].name,
                            p->name);
    return STATUS_OK;
}

static int main_index(const assay_program *p)
{
    int i = 0;
    while (p->inputs[i] != p->main_input)
        i++;
    return i;
}

/* ---- values on the command line ---- */

/* One row; one column for tall blocks; the block's own shape for square ones. */
static void natural_shape(const assay_program *p, int64_t n, int64_t *m, int64_t *k)
{
    *m = 1;
    *k = n;
    for (int s = 0; s < p->statement_count; s++) {
        assay_tile t = p->statements[s].tile;
        bool block = !(t.rows == 1 && t.cols == 1) && (t.rows || t.cols);
        if (!block)
            continue;
        if (t.cols == 1) {
            *m = n;
            *k = 1;
        } else if (t.rows > 1 && t.cols > 1 && n > t.cols && n % t.cols == 0) {
            *m = n / t.cols;
            *k = t.cols;
        }
        return;
    }
}

/* The smallest shape from m x k on that the recipe admits; the rest is filled with +0. */
static int admitted_shape(const assay_program *p, int64_t *m, int64_t *k)
{
    enum { FURTHER = 1024 };
    const char *why = "";
    for (int64_t i = 0; i <= FURTHER; i++)
        for (int64_t j = 0; j <= FURTHER; j++)
            if (assay_program_admits(p, *m + i, *k + j, NULL)) {
                if (i || j)
                    fprintf(stderr, "assay: filled with +0 from %" PRId64 " x %" PRId64 " to %" PRId64
                            " x %" PRId64 "\n", *m, *k, *m + i, *k + j);
                *m += i;
                *k += j;
                return STATUS_OK;
            }
    assay_program_admits(p, *m, *k, &why);
    return complain(STATUS_USAGE, "%s does not take a %" PRId64 " x %" PRId64 " matrix: %s", p->name,
                    *m, *k, why);
}

static int parse_pair(const char *text, char separator, const char *option, int64_t *a, int64_t *b)
{
    char *end;
    *a = strtoll(text, &end, 10);
    bool good = end != text && *end == separator;
    if (good) {
        const char *second = end + 1;
        *b = strtoll(second, &end, 10);
        good = end != second && *end == 0 && *a >= 0 && *b >= 0;
    }
    return good ? STATUS_OK
                : complain(STATUS_USAGE, "%s %s: write two numbers as in 1%c2", option, text,
                           separator);
}

static int take_values(explain_options *o, explain_input *in)
{
    const char *list = o->values ? o->values : o->bits;
    const assay_format *from = o->from ? assay_format_find(o->from) : NULL;
    if (o->from && !from)
        return complain(STATUS_USAGE, "--from %s: there is no such format; `assay formats` lists them",
                        o->from);
    assay_type type = {ASSAY_T_FORMAT, from};
    int status = choose_instance(o, in, from ? dtype_of_type(type) : NULL);
    if (status != STATUS_OK)
        return status;
    const assay_program *p = in->program;
    const assay_value *v = &p->values[p->main_input];
    explain_request *r = &in->request;
    int64_t n = list_length(list);
    natural_shape(p, n, &r->rows, &r->cols);
    if (o->shape && (status = parse_pair(o->shape, 'x', "--shape", &r->rows, &r->cols)) != STATUS_OK)
        return status;
    if (r->rows < 1 || r->cols < 1 || r->rows > n || n / r->rows != r->cols || n % r->rows)
        return complain(STATUS_USAGE, "--shape %s: there are %" PRId64 " values", o->shape, n);
    r->m = r->rows;
    r->k = r->cols;
    if ((status = admitted_shape(p, &r->m, &r->k)) != STATUS_OK ||
        (status = fill_inputs(o, in)) != STATUS_OK)
        return status;
    int size = assay_type_storage(v->type), main = main_index(p);
    char *data = calloc((size_t)(r->m * r->k), (size_t)size);
    in->inputs[main].data = in->owned[main] = data;
    if (!data)
        return complain(STATUS_FILE, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        uint64_t code;
        if ((status = list_item(list, i, v->type, from, &code)) != STATUS_OK)
            return status;
        memcpy(data + (i / r->cols * r->k + i % r->cols) * size, &code, (size_t)size);
    }
    return STATUS_OK;
}

/* ---- a tensor of a file ---- */

/* The tile that `--block` counts: of the first section that is neither tensor nor element. */
static assay_tile block_tile(const assay_program *p)
{
    for (int s = 0; s < p->statement_count; s++) {
        assay_tile t = p->statements[s].tile;
        if ((t.rows || t.cols) && !(t.rows == 1 && t.cols == 1))
            return t;
    }
    return (assay_tile){1, 1};
}

static int place_block(const explain_options *o, explain_input *in)
{
    explain_request *r = &in->request;
    assay_tile t = block_tile(in->program);
    int64_t i = 0, j = 0;
    int status = o->block ? parse_pair(o->block, ',', "--block", &i, &j) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    int64_t rows = assay_tiles_along(r->m, t.rows), cols = assay_tiles_along(r->k, t.cols);
    if (r->m == 0 || r->k == 0 || i >= rows || j >= cols)
        return complain(STATUS_USAGE, "--block %" PRId64 ",%" PRId64 ": the tensor has %" PRId64
                        " x %" PRId64 " blocks", i, j, rows, cols);
    r->row = i * t.rows;
    r->col = j * t.cols;
    r->rows = t.rows && t.rows < r->m - r->row ? t.rows : r->m - r->row;
    r->cols = t.cols && t.cols < r->k - r->col ? t.cols : r->k - r->col;
    return STATUS_OK;
}

static int take_tensor(explain_options *o, explain_input *in)
{
    assay_error error;
    const char *why;
    in->file = safetensors_open(o->eval.in, &error);
    if (!in->file)
        return complain(STATUS_FILE, "%s", error.message);
    in->plan.file = in->file;
    const safetensors_tensor *t = safetensors_find(in->file, o->tensor);
    if (!t)
        return complain(STATUS_FILE, "%s has no tensor '%s'", o->eval.in, o->tensor);
    int status = choose_instance(o, in, t->dtype);
    if (status != STATUS_OK)
        return status;
    explain_request *r = &in->request;
    r->m = 1;
    r->k = t->rank ? t->shape[t->rank - 1] : 1;
    for (int d = 0; d + 1 < t->rank; d++)
        r->m *= t->shape[d];
    if (!assay_program_admits(in->program, r->m, r->k, &why))
        return complain(STATUS_FILE, "tensor '%s' is a %" PRId64 " x %" PRId64 " matrix, and %s says: "
                        "%s", t->name, r->m, r->k, in->program->name, why);
    if ((status = fill_inputs(o, in)) != STATUS_OK)
        return status;
    in->inputs[main_index(in->program)].data = (void *)(uintptr_t)t->data;
    return place_block(o, in);
}

int explain_input_make(explain_options *o, explain_input *in)
{
    *in = (explain_input){.plan = {.options = &o->eval}};
    int status = eval_recipe_load(&o->eval, &in->plan.recipe);
    if (status == STATUS_OK)
        status = o->eval.in ? take_tensor(o, in) : take_values(o, in);
    in->request.program = in->program;
    in->request.inputs = in->inputs;
    return status;
}

void explain_input_free(explain_input *in)
{
    for (int i = 0; in->owned && i < in->program->input_count; i++)
        free(in->owned[i]);
    free(in->owned);
    free(in->inputs);
    eval_plan_free(&in->plan);
    if (in->file)
        safetensors_close(in->file);
}
