/* `command:'./tool {in} {out}'`: a program that reads one safetensors file and writes another. The
 * input file holds one tensor for each input of the recipe and, as metadata, the contract; the
 * output file must hold one tensor for each output: the codes, in the same types. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../vectors/dtype.h"
#include "../vectors/safetensors.h"
#include "run_builtin.h"
#include "run_host.h"

typedef struct {
    char *line; /* of the shell, as given */
    char folder[64];
} command_state;

static assay_answer command_open(void **state, const char *options, char *message, size_t size)
{
    if (!strstr(options, "{in}") || !strstr(options, "{out}"))
        return run_builtin_say(ASSAY_FAILED, message, size,
                               "the command must contain {in} and {out}, the names of the "
                               "safetensors files: '%s'", options);
    command_state *s = calloc(1, sizeof *s);
    if (!s || !(s->line = strdup(options)))
        return run_builtin_say(ASSAY_FAILED, message, size, "out of memory");
    snprintf(s->folder, sizeof s->folder, "/tmp/assay-XXXXXX");
    if (!mkdtemp(s->folder))
        return run_builtin_say(ASSAY_FAILED, message, size, "%s: %s", s->folder, strerror(errno));
    *state = s;
    return ASSAY_DONE;
}

static void command_close(void *state)
{
    command_state *s = state;
    rmdir(s->folder);
    free(s->line);
    free(s);
}

static void command_describe(void *state, assay_description *d)
{
    const command_state *s = state;
    snprintf(d->library, sizeof d->library, "command: %.100s", s->line);
}

/* The line with {in} and {out} replaced; malloc'd. */
static char *expand(const char *line, const char *in, const char *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    while (f && *line) {
        if (!strncmp(line, "{in}", 4))
            fputs(in, f), line += 4;
        else if (!strncmp(line, "{out}", 5))
            fputs(out, f), line += 5;
        else
            fputc(*line++, f);
    }
    if (!f || fclose(f))
        return NULL;
    return text;
}

static int put_tensor(safetensors_writer *w, int index, const assay_tensor *t, assay_error *error)
{
    size_t bytes = (size_t)(t->rows * t->cols * t->code_bytes);
    void *dense = malloc(bytes + 1);
    if (!dense)
        return assay_fail(error, "out of memory");
    run_builtin_load(t, dense);
    int status = safetensors_writer_put(w, index, 0, dense, (int64_t)bytes, error);
    free(dense);
    return status;
}

static assay_type type_named(const char *name)
{
    static const assay_type_kind kinds[] = {ASSAY_T_U8, ASSAY_T_U32, ASSAY_T_I32, ASSAY_T_U64,
                                            ASSAY_T_BOOL};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(assay_type_name((assay_type){kinds[i], NULL}), name))
            return (assay_type){kinds[i], NULL};
    return (assay_type){ASSAY_T_FORMAT, assay_format_find(name)};
}

static int write_inputs(const char *path, const assay_contract *c, const assay_tensor *inputs,
                        int64_t count, assay_error *error)
{
    safetensors_writer *w = safetensors_writer_new(path, error);
    if (!w)
        return -1;
    char m[32], k[32];
    snprintf(m, sizeof m, "%lld", (long long)c->m);
    snprintf(k, sizeof k, "%lld", (long long)c->k);
    safetensors_writer_metadata(w, "recipe", c->instance);
    safetensors_writer_metadata(w, "sha256", c->sha256);
    safetensors_writer_metadata(w, "m", m);
    safetensors_writer_metadata(w, "k", k);
    int status = 0;
    for (int64_t i = 0; i < count && !status; i++) {
        const char *dtype = dtype_of_type(type_named(inputs[i].type));
        int64_t shape[2] = {inputs[i].rows, inputs[i].cols};
        status = safetensors_writer_declare(w, inputs[i].name, dtype, 2, shape) < 0
                     ? assay_fail(error, "out of memory")
                     : 0;
    }
    status = status ? status : safetensors_writer_create(w, error);
    for (int64_t i = 0; i < count && !status; i++)
        status = put_tensor(w, (int)i, &inputs[i], error);
    if (status) {
        safetensors_writer_abort(w);
        return -1;
    }
    return safetensors_writer_finish(w, error);
}

static int read_outputs(const char *path, const assay_tensor *outputs, int64_t count,
                        assay_error *error)
{
    safetensors_file *f = safetensors_open(path, error);
    if (!f)
        return -1;
    int status = 0;
    for (int64_t i = 0; i < count && !status; i++) {
        const safetensors_tensor *t = safetensors_find(f, outputs[i].name);
        int64_t bytes = outputs[i].rows * outputs[i].cols * outputs[i].code_bytes;
        if (!t)
            status = assay_fail(error, "the command wrote no tensor %s", outputs[i].name);
        else if (t->size != bytes)
            status = assay_fail(error, "the command wrote %lld bytes for %s, not %lld x %lld codes "
                                "of %lld", (long long)t->size, outputs[i].name,
                                (long long)outputs[i].rows, (long long)outputs[i].cols,
                                (long long)outputs[i].code_bytes);
        else
            run_builtin_store(&outputs[i], t->data);
    }
    safetensors_close(f);
    return status;
}

static assay_answer command_run(void *state, const assay_contract *c, const assay_tensor *inputs,
                                int64_t input_count, const assay_tensor *outputs,
                                int64_t output_count, char *message, size_t size)
{
    const command_state *s = state;
    char in[96], out[96];
    snprintf(in, sizeof in, "%s/in.safetensors", s->folder);
    snprintf(out, sizeof out, "%s/out.safetensors", s->folder);
    assay_error error;
    assay_answer a = ASSAY_DONE;
    char *line = expand(s->line, in, out);
    if (!line || write_inputs(in, c, inputs, input_count, &error)) {
        a = run_builtin_say(ASSAY_FAILED, message, size, "%s", line ? error.message : "out of memory");
    } else {
        int status = system(line);
        if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status))
            a = run_builtin_say(ASSAY_FAILED, message, size, "the command %s %d: %.200s",
                                WIFEXITED(status) ? "exited with status" : "was ended by signal",
                                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), line);
        else if (read_outputs(out, outputs, output_count, &error))
            a = run_builtin_say(ASSAY_FAILED, message, size, "%s", error.message);
    }
    unlink(in);
    unlink(out);
    free(line);
    return a;
}

const assay_adapter run_builtin_command = {ASSAY_ADAPTER_ABI, command_open,  command_describe, NULL,
                                           command_run,       command_close};
