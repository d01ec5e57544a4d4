#include "eval_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../vectors/dtype.h"
#include "command.h"

int64_t eval_grid_bytes(const assay_value *v, int64_t m, int64_t k)
{
    int64_t rows, cols;
    assay_value_shape(v, m, k, &rows, &cols);
    return rows * cols * assay_type_storage(v->type);
}

/* The last dimension is K, the others are rows; rank 1: one row; rank 0: 1 x 1. */
static void flatten(const safetensors_tensor *t, int64_t *m, int64_t *k)
{
    *m = 1;
    *k = t->rank ? t->shape[t->rank - 1] : 1;
    for (int i = 0; i + 1 < t->rank; i++)
        *m *= t->shape[i];
}

int eval_add_setting(eval_setting **list, int *count, char *text, const char *option)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return complain(STATUS_USAGE, "%s %s: write NAME=VALUE", option, text);
    for (int i = 0; i < *count; i++)
        if (!strncmp((*list)[i].name, text, (size_t)(equals - text)) &&
            !(*list)[i].name[equals - text])
            return complain(STATUS_USAGE, "%s %s: %s was given before: give it once", option, text,
                            (*list)[i].name);
    eval_setting *grown = realloc(*list, (size_t)(*count + 1) * sizeof *grown);
    if (!grown)
        return complain(STATUS_FILE, "out of memory");
    *equals = 0;
    *list = grown;
    grown[(*count)++] = (eval_setting){.name = text, .value = equals + 1};
    return STATUS_OK;
}

static eval_setting *setting_of(eval_setting *all, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

/* ---- where inputs come from ---- */

static const char *place_name(const assay_value *v, char *buffer, size_t size)
{
    if (v->is_table)
        snprintf(buffer, size, "table %" PRId64 "x%" PRId64, v->table_rows, v->table_cols);
    else if (v->tile.rows == 0 && v->tile.cols == 0)
        snprintf(buffer, size, "per tensor");
    else if (v->tile.rows == 0)
        snprintf(buffer, size, "per column");
    else if (v->tile.cols == 0)
        snprintf(buffer, size, "per row");
    else
        snprintf(buffer, size, "per %" PRId64 "x%" PRId64, v->tile.rows, v->tile.cols);
    return buffer;
}

/* A grid that holds one value everywhere. */
static int source_of_value(eval_plan *plan, const eval_item *item, const assay_value *v,
                           const char *text, eval_source *source, assay_error *error)
{
    uint64_t code;
    if (eval_parse_value(v->type, text, &code, error))
        return -1;
    int storage = assay_type_storage(v->type);
    int64_t bytes = eval_grid_bytes(v, item->m, item->k);
    char *data = malloc((size_t)bytes + 1);
    void **grown = realloc(plan->owned, (size_t)(plan->owned_count + 1) * sizeof *grown);
    if (grown)
        plan->owned = grown;
    if (!data || !grown) {
        free(data);
        return assay_fail(error, "out of memory");
    }
    for (int64_t i = 0; i < bytes; i += storage)
        memcpy(data + i, &code, (size_t)storage);
    plan->owned[plan->owned_count++] = data;
    *source = (eval_source){.data = data, .tensor = -1};
    return 0;
}

static int source_of_tensor(eval_plan *plan, const eval_item *item, const assay_value *v,
                            const char *name, eval_source *source, assay_error *error)
{
    char place[64];
    int64_t m, k, rows, cols;
    const safetensors_tensor *t = safetensors_find(plan->file, name);
    if (!t)
        return assay_fail(error, "%s has no tensor '%s' for input %s", plan->options->in, name,
                          v->name);
    if (!dtype_fits(v->type, t->dtype))
        return assay_fail(error, "tensor '%s' is %s, input %s is %s", name, t->dtype, v->name,
                          assay_type_name(v->type));
    flatten(t, &m, &k);
    assay_value_shape(v, item->m, item->k, &rows, &cols);
    bool vector = t->rank <= 1 && (rows == 1 || cols == 1) && m * k == rows * cols;
    if (!(m == rows && k == cols) && !(m * k == 1 && rows * cols == 1) && !vector)
        return assay_fail(error, "tensor '%s' is %" PRId64 " x %" PRId64 ", input %s (%s) needs "
                          "%" PRId64 " x %" PRId64, name, m, k, v->name,
                          place_name(v, place, sizeof place), rows, cols);
    *source = (eval_source){.data = t->data, .mapped = true, .tensor = -1};
    return 0;
}

static bool is_fed(const assay_program *p, int input)
{
    for (int i = 0; i < p->output_count; i++)
        if (p->values[p->outputs[i]].feeds == input)
            return true;
    return false;
}

/* Input `value` of program p. STATUS_FILE with `why`: this tensor cannot be done. */
static int source_for(eval_plan *plan, const eval_item *item, const assay_program *p, int value,
                      eval_source *source, assay_error *why)
{
    const eval_options *o = plan->options;
    const assay_value *v = &p->values[value];
    eval_setting *bind = setting_of(o->binds, o->bind_count, v->name);
    eval_setting *set = setting_of(o->sets, o->set_count, v->name);
    char place[64];
    *source = (eval_source){.tensor = -1};
    if (bind) {
        bind->used = true;
        return source_of_tensor(plan, item, v, bind->value, source, why) ? STATUS_FILE : STATUS_OK;
    }
    if (set) {
        set->used = true;
        if (source_of_value(plan, item, v, set->value, source, why))
            return complain(STATUS_USAGE, "--set %s=%s: %s", set->name, set->value, why->message);
        return STATUS_OK;
    }
    if (is_fed(p, value))
        return STATUS_OK; /* the first step: +0 */
    return complain(STATUS_USAGE, "%s needs its input %s (%s %s): give --set %s=VALUE or --bind "
                    "%s=TENSOR", p->name, v->name, assay_type_name(v->type),
                    place_name(v, place, sizeof place), v->name, v->name);
}

/* ---- one tensor ---- */

/* Element outputs have the tensor's shape, those of the whole tensor one element, others a grid. */
static int declare(eval_plan *plan, const eval_item *item, const assay_value *v, int *sink,
                   assay_error *error)
{
    int64_t grid[2];
    const safetensors_tensor *t = item->tensor;
    assay_value_shape(v, item->m, item->k, &grid[0], &grid[1]);
    int rank = 2;
    const int64_t *shape = grid;
    if (v->tile.rows == 1 && v->tile.cols == 1) {
        rank = t->rank;
        shape = t->shape;
    } else if (v->tile.rows == 0 && v->tile.cols == 0) {
        rank = 1;
    }
    char *name = NULL;
    if (asprintf(&name, "%s/%s", t->name, v->name) < 0)
        return assay_fail(error, "out of memory");
    *sink = safetensors_writer_declare(plan->writer, name, dtype_of_type(v->type), rank, shape);
    free(name);
    return *sink < 0 ? assay_fail(error, "out of memory") : 0;
}

/* Sources of every input of p but the main one. STATUS_FILE and `why`: the tensor does not fit. */
static int plan_sources(eval_plan *plan, eval_item *item, assay_error *why)
{
    const assay_program *p = item->instance->program;
    item->sources = calloc((size_t)p->input_count + 1, sizeof *item->sources);
    item->sinks = calloc((size_t)p->output_count + 1, sizeof *item->sinks);
    if (!item->sources || !item->sinks)
        return complain(STATUS_FILE, "out of memory");
    int status = STATUS_OK;
    for (int i = 0; i < p->input_count && status == STATUS_OK; i++) {
        if (p->inputs[i] == p->main_input)
            item->sources[i] = (eval_source){.data = item->tensor->data, .mapped = true,
                                             .tensor = -1};
        else
            status = source_for(plan, item, p, p->inputs[i], &item->sources[i], why);
    }
    return status;
}

/* The decode part reads outputs of N (`tensor` is the output's index here, its place in the file
 * later) and inputs of its own. */
static int plan_decode_sources(eval_plan *plan, eval_item *item, assay_error *why)
{
    const assay_program *p = item->instance->program, *d = item->instance->decode;
    item->decode_sources = calloc((size_t)d->input_count + 1, sizeof *item->decode_sources);
    item->decode_sinks = calloc((size_t)d->output_count + 1, sizeof *item->decode_sinks);
    if (!item->decode_sources || !item->decode_sinks)
        return complain(STATUS_FILE, "out of memory");
    int status = STATUS_OK;
    for (int i = 0; i < d->input_count && status == STATUS_OK; i++) {
        eval_source *source = &item->decode_sources[i];
        *source = (eval_source){.tensor = -1};
        for (int j = 0; j < p->output_count; j++)
            if (!strcmp(p->values[p->outputs[j]].name, d->values[d->inputs[i]].name))
                source->tensor = j;
        if (source->tensor < 0)
            status = source_for(plan, item, d, d->inputs[i], source, why);
    }
    return status;
}

static int declare_all(eval_plan *plan, eval_item *item, assay_error *why)
{
    const assay_program *p = item->instance->program, *d = item->instance->decode;
    for (int i = 0; i < p->output_count; i++)
        if (declare(plan, item, &p->values[p->outputs[i]], &item->sinks[i], why))
            return -1;
    for (int i = 0; d && i < d->input_count; i++)
        if (item->decode_sources[i].tensor >= 0)
            item->decode_sources[i].tensor = item->sinks[item->decode_sources[i].tensor];
    for (int i = 0; d && i < d->output_count; i++)
        if (declare(plan, item, &d->values[d->outputs[i]], &item->decode_sinks[i], why))
            return -1;
    return plan->options->layout ? eval_layout_declare(plan, item, why) : 0;
}

/* STATUS_FILE and `why`: the tensor does not fit and is left out; nothing has been declared then. */
static int plan_tensor(eval_plan *plan, eval_item *item, assay_error *why)
{
    const char *line;
    item->instance = eval_instance_for(plan, item->tensor->dtype, why);
    if (!item->instance)
        return STATUS_FILE;
    const assay_program *p = item->instance->program;
    flatten(item->tensor, &item->m, &item->k);
    if (!assay_program_admits(p, item->m, item->k, &line)) {
        assay_fail(why, "as a matrix it is %" PRId64 " x %" PRId64 ", and %s says: %s", item->m,
                   item->k, p->name, line);
        return STATUS_FILE;
    }
    int status = plan_sources(plan, item, why);
    if (status == STATUS_OK && item->instance->decode)
        status = plan_decode_sources(plan, item, why);
    if (status == STATUS_OK && plan->options->layout && eval_layout_check(item, why))
        status = STATUS_FILE;
    if (status == STATUS_OK && declare_all(plan, item, why))
        status = STATUS_FILE;
    return status;
}

static void item_free(eval_item *item)
{
    free(item->sources);
    free(item->sinks);
    free(item->decode_sources);
    free(item->decode_sinks);
    free(item->byte_sinks);
}

static int plan_one(eval_plan *plan, const safetensors_tensor *t)
{
    assay_error why = {"it does not fit"};
    eval_item *item = &plan->items[plan->item_count];
    *item = (eval_item){.tensor = t};
    int status = plan_tensor(plan, item, &why);
    if (status == STATUS_OK) {
        plan->item_count++;
        return STATUS_OK;
    }
    item_free(item);
    if (status == STATUS_USAGE)
        return status;
    complain(STATUS_FILE, "tensor '%s' is left out: %s", t->name, why.message);
    plan->left_out[plan->left_out_count++] = (eval_left_out){t, strdup(why.message)};
    return STATUS_OK;
}

/* ---- the whole file ---- */

static bool is_bound(const eval_options *o, const char *tensor)
{
    for (int i = 0; i < o->bind_count; i++)
        if (!strcmp(o->binds[i].value, tensor))
            return true;
    return false;
}

static int check_used(const eval_options *o, const eval_plan *plan)
{
    const char *recipe = assay_recipe_name(plan->recipe.recipe);
    for (int i = 0; i < o->set_count; i++)
        if (!o->sets[i].used)
            return complain(STATUS_USAGE, "--set %s=%s: %s has no such parameter or input",
                            o->sets[i].name, o->sets[i].value, recipe);
    for (int i = 0; i < o->bind_count; i++)
        if (!o->binds[i].used)
            return complain(STATUS_USAGE, "--bind %s=%s: %s has no such input", o->binds[i].name,
                            o->binds[i].value, recipe);
    return STATUS_OK;
}

/* Bad choices are a mistake of the command line, not of a tensor. */
static int check_choices(eval_plan *plan)
{
    assay_error error;
    if (eval_instance_for(plan, "F32", &error) || plan->instances)
        return STATUS_OK;
    return complain(STATUS_USAGE, "%s", error.message);
}

int eval_plan_make(eval_plan *plan)
{
    const eval_options *o = plan->options;
    int n = o->tensor_count ? o->tensor_count : safetensors_count(plan->file);
    int status = check_choices(plan);
    plan->items = calloc((size_t)n + 1, sizeof *plan->items);
    plan->left_out = calloc((size_t)n + 1, sizeof *plan->left_out);
    if (!plan->items || !plan->left_out)
        return complain(STATUS_FILE, "out of memory");
    for (int i = 0; i < n && status == STATUS_OK; i++) {
        const safetensors_tensor *t = o->tensor_count ? safetensors_find(plan->file, o->tensors[i])
                                                      : safetensors_at(plan->file, i);
        if (!t)
            status = complain(STATUS_FILE, "%s has no tensor '%s'", o->in, o->tensors[i]);
        else if (o->tensor_count || !is_bound(o, t->name))
            status = plan_one(plan, t);
    }
    if (status == STATUS_OK && plan->item_count == 0)
        status = complain(STATUS_FILE, "%s: no tensor fits %s: nothing was written", o->in,
                          assay_recipe_name(plan->recipe.recipe));
    return status == STATUS_OK ? check_used(o, plan) : status;
}

void eval_plan_free(eval_plan *plan)
{
    for (int i = 0; i < plan->item_count; i++)
        item_free(&plan->items[i]);
    for (int i = 0; i < plan->left_out_count; i++)
        free(plan->left_out[i].why);
    for (int i = 0; i < plan->owned_count; i++)
        free(plan->owned[i]);
    for (eval_instance *i = plan->instances, *next; i; i = next) {
        next = i->next;
        assay_fast_free(i->fast);
        assay_fast_free(i->decode_fast);
        assay_program_free(i->program);
        assay_program_free(i->decode);
        free(i->choices);
        free(i);
    }
    if (plan->recipe.owned)
        assay_recipe_free(plan->recipe.owned);
    free(plan->recipe.text);
    free(plan->items);
    free(plan->left_out);
    free(plan->owned);
}
