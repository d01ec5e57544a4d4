#include "worker.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROTOCOL = 1 };
static const double START_LIMIT = 120; /* seconds: libraries with kernels to compile start slowly */

const char *worker_outcome_name(worker_outcome o)
{
    static const char *const names[] = {"done", "unsupported", "failed", "crash",
                                        "hang", "guard",       "stopped"};
    return names[o];
}

int worker_init(worker *w, adapter_spec *spec, const worker_limits *limits, assay_error *error)
{
    *w = (worker){.spec = spec, .limits = *limits};
    w->child.channel = w->child.print = -1;
    w->inputs.fd = w->inputs.child = w->outputs.fd = w->outputs.child = -1;
    if (fence_open(&w->inputs, true, error))
        return -1;
    if (fence_open(&w->outputs, false, error)) {
        fence_close(&w->inputs);
        return -1;
    }
    return 0;
}

/* A life is over, or to be over: keeps what was printed, forgets what the child was told. */
static void end_life(worker *w, const char *request, double grace)
{
    isolate_end(&w->child, request, grace);
    if (w->child.printed) {
        free(w->printed);
        w->printed = isolate_printed(&w->child);
        w->child.printed = w->child.log_used = 0;
    }
    w->greeted = false;
    w->contract[0] = '\0';
}

void worker_free(worker *w)
{
    end_life(w, isolate_alive(&w->child) ? "{\"call\": \"close\"}" : NULL, 3);
    fence_close(&w->inputs);
    fence_close(&w->outputs);
    free(w->printed);
    w->printed = NULL;
}

char *worker_printed(const worker *w)
{
    if (w->child.printed)
        return isolate_printed(&w->child);
    return w->printed ? strdup(w->printed) : NULL;
}

static worker_outcome fail(worker *w, worker_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static worker_outcome fail(worker *w, worker_outcome outcome, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->message, sizeof w->message, format, arguments);
    va_end(arguments);
    return outcome;
}

/* ---- one question and its answer ---- */

static worker_outcome broken(worker *w, isolate_event event, const char *call)
{
    worker_outcome outcome;
    switch (event) {
    case ISOLATE_HANG:
        outcome = fail(w, WORKER_HANG, "no answer to %s within the time limit", call);
        break;
    case ISOLATE_MEMORY:
        outcome = fail(w, WORKER_CRASH, "used more than %lld MiB in %s (--memory-limit)",
                       (long long)(w->limits.memory_limit >> 20), call);
        break;
    case ISOLATE_STOPPED:
        outcome = fail(w, WORKER_STOPPED, "stopped");
        break;
    default:
        outcome = fail(w, WORKER_CRASH, "%s in %s", w->child.end, call);
    }
    end_life(w, NULL, 0);
    return outcome;
}

/* Takes `request` over. *reply (may be NULL) gets the answer's object when the outcome is one that
 * the worker itself gave. */
static worker_outcome ask(worker *w, json_t *request, double limit, json_t **reply)
{
    char call[32];
    snprintf(call, sizeof call, "%s", json_string_value(json_object_get(request, "call")));
    char *line = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(request);
    if (!line)
        return fail(w, WORKER_FAILED, "out of memory");
    const char *text = NULL;
    isolate_event event = isolate_ask(&w->child, line, limit, &text);
    free(line);
    if (event != ISOLATE_ANSWER)
        return broken(w, event, call);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *fault = json_string_value(json_object_get(object, "fault"));
    if (fault) {
        worker_outcome outcome = fail(w, WORKER_GUARD, "%s", fault);
        json_decref(object);
        end_life(w, NULL, 0);
        return outcome;
    }
    const char *answer = json_string_value(json_object_get(object, "answer"));
    const char *message = json_string_value(json_object_get(object, "message"));
    worker_outcome outcome = WORKER_CRASH;
    if (answer && !strcmp(answer, "done"))
        outcome = WORKER_DONE;
    else if (answer && !strcmp(answer, "unsupported"))
        outcome = WORKER_UNSUPPORTED;
    else if (answer && !strcmp(answer, "failed"))
        outcome = WORKER_FAILED;
    if (outcome == WORKER_CRASH) {
        fail(w, outcome, "wrote on the channel what is no answer: %.80s", text);
        end_life(w, NULL, 0);
    } else {
        fail(w, outcome, "%s", message ? message : "");
    }
    if (reply && outcome != WORKER_CRASH)
        *reply = json_incref(object);
    json_decref(object);
    return outcome;
}

/* ---- the calls ---- */

static void take_text(const json_t *reply, const char *key, char *to, size_t size)
{
    const char *text = json_string_value(json_object_get(reply, key));
    snprintf(to, size, "%s", text ? text : "");
}

worker_outcome worker_hello(worker *w)
{
    if (w->greeted)
        return WORKER_DONE;
    if (!isolate_alive(&w->child)) {
        isolate_options options = {.argv = w->spec->argv, .environment = w->spec->environment,
                                   .inputs = w->inputs.child, .outputs = w->outputs.child,
                                   .memory_limit = w->limits.memory_limit,
                                   .stop = w->limits.stop};
        assay_error error;
        if (isolate_start(&w->child, &options, &error))
            return fail(w, WORKER_FAILED, "%s", error.message);
        w->lives++;
    }
    json_t *reply = NULL;
    double limit = w->limits.time_limit > START_LIMIT ? w->limits.time_limit : START_LIMIT;
    worker_outcome outcome = ask(w, json_pack("{s:s, s:i, s:s}", "call", "hello", "protocol",
                                              PROTOCOL, "options", w->spec->options),
                                 limit, &reply);
    if (outcome == WORKER_DONE) {
        take_text(reply, "library", w->description.library, sizeof w->description.library);
        take_text(reply, "version", w->description.version, sizeof w->description.version);
        take_text(reply, "device", w->description.device, sizeof w->description.device);
        w->greeted = true;
    } else if (outcome == WORKER_UNSUPPORTED || outcome == WORKER_FAILED) {
        outcome = WORKER_FAILED;
        end_life(w, "{\"call\": \"close\"}", 1);
    }
    json_decref(reply);
    return outcome;
}

worker_outcome worker_supports(worker *w, const assay_program *p)
{
    worker_outcome outcome = worker_hello(w);
    if (outcome != WORKER_DONE)
        return outcome;
    if (!strcmp(w->contract, p->name))
        return w->answer;
    json_t *settings = json_array();
    for (int i = 0; i < p->choice_count; i++)
        json_array_append_new(settings, json_pack("[ss]", p->choices[i].name,
                                                  p->choices[i].choice));
    w->contract_id++;
    json_t *contract = json_pack("{s:I, s:s, s:s, s:s, s:s, s:o}", "id",
                                 (json_int_t)w->contract_id, "instance", p->name, "recipe",
                                 p->recipe, "sha256", p->sha256, "canonical", p->canonical,
                                 "settings", settings);
    outcome = ask(w, json_pack("{s:s, s:o}", "call", "supports", "contract", contract),
                  w->limits.time_limit, NULL);
    if (outcome == WORKER_DONE || outcome == WORKER_UNSUPPORTED) {
        snprintf(w->contract, sizeof w->contract, "%s", p->name);
        w->answer = outcome;
    }
    return outcome;
}

static json_t *tensor(const assay_value *v, const fence_slot *s)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:i, s:I, s:[II]}", "name", v->name, "type",
                     assay_type_name(v->type), "rows", (json_int_t)s->rows, "cols",
                     (json_int_t)s->cols, "row_stride", (json_int_t)s->stride, "code_bytes",
                     s->code_bytes, "offset", (json_int_t)s->offset, "region",
                     (json_int_t)s->start, (json_int_t)s->length);
}

/* Places one tensor for each value. NULL and w->message if there is no room. */
static fence_slot *place(worker *w, const assay_program *p, fence_file *f, const int *values,
                         int count, int64_t m, int64_t k, bool awkward)
{
    fence_slot *slots = calloc((size_t)count + 1, sizeof *slots);
    fence_reset(f);
    for (int i = 0; slots && i < count; i++) {
        const assay_value *v = &p->values[values[i]];
        int64_t rows, cols;
        assay_error error;
        assay_value_shape(v, m, k, &rows, &cols);
        if (fence_place(f, rows, cols, assay_type_storage(v->type), awkward, &slots[i], &error)) {
            fail(w, WORKER_FAILED, "%s", error.message);
            free(slots);
            return NULL;
        }
    }
    if (!slots)
        fail(w, WORKER_FAILED, "out of memory");
    return slots;
}

/* Looks at everything that the call should have left alone. */
static worker_outcome inspect(worker *w, const assay_program *p, const fence_slot *in,
                              const fence_slot *out, const assay_grid *inputs)
{
    char text[200];
    for (int i = 0; i < p->output_count; i++)
        if (!fence_intact(&w->outputs, &out[i], p->values[p->outputs[i]].name, text, sizeof text))
            return fail(w, WORKER_GUARD, "%s", text);
    for (int i = 0; i < p->input_count; i++)
        if (!fence_unchanged(&w->inputs, &in[i], inputs[i].data))
            return fail(w, WORKER_GUARD, "changed its input %s", p->values[p->inputs[i]].name);
    return WORKER_DONE;
}

static worker_outcome run_placed(worker *w, const assay_program *p, int64_t m, int64_t k,
                                 const assay_grid *inputs, const assay_grid *observed,
                                 uint8_t poison, const fence_slot *in, const fence_slot *out)
{
    json_t *ins = json_array(), *outs = json_array();
    for (int i = 0; i < p->input_count; i++) {
        fence_put(&w->inputs, &in[i], inputs[i].data);
        json_array_append_new(ins, tensor(&p->values[p->inputs[i]], &in[i]));
    }
    for (int i = 0; i < p->output_count; i++) {
        fence_poison(&w->outputs, &out[i], poison);
        json_array_append_new(outs, tensor(&p->values[p->outputs[i]], &out[i]));
    }
    json_t *request = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "call", "run",
                                "contract", (json_int_t)w->contract_id, "m", (json_int_t)m, "k",
                                (json_int_t)k, "input_bytes", (json_int_t)w->inputs.size,
                                "output_bytes", (json_int_t)w->outputs.size, "inputs", ins,
                                "outputs", outs);
    worker_outcome outcome = ask(w, request, w->limits.time_limit, NULL);
    if (outcome == WORKER_DONE || outcome == WORKER_FAILED) {
        worker_outcome seen = inspect(w, p, in, out, inputs);
        if (seen != WORKER_DONE)
            return seen;
    }
    for (int i = 0; outcome == WORKER_DONE && i < p->output_count; i++)
        fence_get(&w->outputs, &out[i], observed[i].data);
    return outcome;
}

worker_outcome worker_run(worker *w, const assay_program *p, int64_t m, int64_t k,
                          const assay_grid *inputs, const assay_grid *observed, uint8_t poison,
                          bool awkward)
{
    worker_outcome outcome = worker_supports(w, p);
    if (outcome != WORKER_DONE)
        return outcome;
    fence_slot *in = place(w, p, &w->inputs, p->inputs, p->input_count, m, k, awkward);
    fence_slot *out = in ? place(w, p, &w->outputs, p->outputs, p->output_count, m, k, awkward)
                         : NULL;
    outcome = out ? run_placed(w, p, m, k, inputs, observed, poison, in, out) : WORKER_FAILED;
    free(in);
    free(out);
    return outcome;
}
