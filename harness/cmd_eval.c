/* assay eval: the reference's answer for a file of tensors. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "command.h"
#include "eval_plan.h"

static const char help[] =
    "usage: assay eval RECIPE -i IN.safetensors -o OUT.safetensors [OPTIONS]\n\n"
    "Runs the reference over every tensor of IN that fits the recipe's main input: its last\n"
    "dimension is K, the others are rows. OUT holds T/Y for tensor T and output Y: codes one a byte.\n\n"
    "  -i, --input FILE      the tensors\n"
    "  -o, --output FILE     where the answer goes; it has that name only once it is whole\n"
    "  --tensor NAME         only this tensor (repeatable)\n"
    "  --engine fast|exact   the evaluator (fast; both give the same bits)\n"
    "  --set NAME=VALUE      a parameter, or one value for a further input: A=1.5, seed=7\n"
    "  --bind INPUT=TENSOR   a further input from a tensor of IN\n"
    "  --threads N           default: all cores\n"
    "  --recipe-file FILE    a recipe of your own\n"
    "  --decode              also T/y, by the recipe's decode part\n"
    "  --layout              also T/Y.bytes, by the recipe's layout lines\n"
    "  --skip                tensors that do not fit are no error\n"
    "  --json                a summary on standard output\n\n"
    "A parameter that you leave open takes the alternative that is the tensor's dtype, T first.\n"
    "0x... without p is the bits of a value.\n"
    "Example: assay eval te.mxfp4.qat -i model.safetensors -o out.safetensors --skip\n";

static volatile sig_atomic_t interrupted; /* the only way in for a signal */

static void on_signal(int number)
{
    interrupted = number;
}

static void catch_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- options ---- */

static int set_engine(eval_options *o, const char *word)
{
    o->exact = !strcmp(word, "exact");
    if (!o->exact && strcmp(word, "fast"))
        return complain(STATUS_USAGE, "--engine %s: it is fast or exact", word);
    return STATUS_OK;
}

static int set_threads(eval_options *o, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > 256)
        return complain(STATUS_USAGE, "--threads %s: a number from 1 to 256", text);
    o->threads = (int)n;
    return STATUS_OK;
}

static int add_tensor(eval_options *o, const char *name)
{
    for (int i = 0; i < o->tensor_count; i++)
        if (!strcmp(o->tensors[i], name))
            return STATUS_OK; /* named twice: wanted once */
    const char **grown = realloc(o->tensors, (size_t)(o->tensor_count + 1) * sizeof *grown);
    if (!grown)
        return complain(STATUS_FILE, "out of memory");
    o->tensors = grown;
    grown[o->tensor_count++] = name;
    return STATUS_OK;
}

enum { TENSOR = 256, ENGINE, SET, BIND, THREADS, RECIPE_FILE, DECODE, LAYOUT, SKIP, JSON, HELP };

static const struct option long_options[] = {
    {"input", required_argument, NULL, 'i'},  {"output", required_argument, NULL, 'o'},
    {"tensor", required_argument, NULL, TENSOR}, {"engine", required_argument, NULL, ENGINE},
    {"set", required_argument, NULL, SET},    {"bind", required_argument, NULL, BIND},
    {"threads", required_argument, NULL, THREADS},
    {"recipe-file", required_argument, NULL, RECIPE_FILE},
    {"decode", no_argument, NULL, DECODE},    {"layout", no_argument, NULL, LAYOUT},
    {"skip", no_argument, NULL, SKIP},        {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, HELP},        {NULL, 0, NULL, 0}};

static int read_option(eval_options *o, int c)
{
    switch (c) {
    case 'i': o->in = optarg; return STATUS_OK;
    case 'o': o->out = optarg; return STATUS_OK;
    case TENSOR: return add_tensor(o, optarg);
    case ENGINE: return set_engine(o, optarg);
    case SET: return eval_add_setting(&o->sets, &o->set_count, optarg, "--set");
    case BIND: return eval_add_setting(&o->binds, &o->bind_count, optarg, "--bind");
    case THREADS: return set_threads(o, optarg);
    case RECIPE_FILE: o->recipe_file = optarg; return STATUS_OK;
    case DECODE: o->decode = true; return STATUS_OK;
    case LAYOUT: o->layout = true; return STATUS_OK;
    case SKIP: o->skip = true; return STATUS_OK;
    case JSON: o->json = true; return STATUS_OK;
    default: return complain(STATUS_USAGE, "`assay eval --help` lists the options");
    }
}

static int read_options(int argc, char **argv, eval_options *o, bool *helped)
{
    int c, status = STATUS_OK;
    optind = 0;
    while (status == STATUS_OK && (c = getopt_long(argc, argv, "i:o:h", long_options, NULL)) != -1) {
        if (c == 'h' || c == HELP) {
            *helped = true;
            fputs(help, stdout);
            return finish_output();
        }
        status = read_option(o, c);
    }
    if (status != STATUS_OK)
        return status;
    if (optind < argc)
        o->recipe = argv[optind++];
    if (optind < argc)
        return complain(STATUS_USAGE, "'%s': one recipe at a time", argv[optind]);
    if (!o->recipe && !o->recipe_file)
        return complain(STATUS_USAGE, "which recipe? `assay recipes` lists them");
    if (!o->in || !o->out || !*o->in || !*o->out)
        return complain(STATUS_USAGE, "give -i IN.safetensors and -o OUT.safetensors");
    struct stat in, out;
    if (!stat(o->in, &in) && !stat(o->out, &out) && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino)
        return complain(STATUS_USAGE, "%s would be overwritten by its own answer: give another -o",
                        o->in);
    return STATUS_OK;
}

/* ---- running ---- */

typedef struct {
    double open, plan, decode, layout, finish;
    eval_times passes, decode_passes;
    int64_t elements;
} phases;

/* A bar on a terminal, nothing elsewhere. */
typedef struct {
    bool shown;
    double total, done, drawn; /* elements x passes; time of the last drawing */
    int64_t k;
} bar;

static void progress(void *context, int64_t rows)
{
    bar *b = context;
    double t = monotonic_seconds();
    b->done += (double)rows * (double)b->k;
    if (!b->shown || t - b->drawn < 0.1)
        return;
    b->drawn = t;
    int cells = b->total > 0 ? (int)(40 * b->done / b->total) : 0;
    cells = cells > 40 ? 40 : cells;
    fprintf(stderr, "\r[%.*s%*s] %3d %%", cells, "########################################",
            40 - cells, "", (int)(2.5 * cells));
}

static int passes_of(const eval_instance *i)
{
    return (i->fast ? assay_fast_passes(i->fast) : 1) +
           (i->decode ? i->decode_fast ? assay_fast_passes(i->decode_fast) : 1 : 0);
}

static int run_item(const eval_plan *plan, const eval_item *item, bar *b, phases *t,
                    assay_error *error)
{
    const eval_instance *i = item->instance;
    eval_job job = {.program = i->program, .fast = i->fast, .m = item->m, .k = item->k,
                    .sources = item->sources, .sinks = item->sinks, .name = item->tensor->name,
                    .file = plan->file, .writer = plan->writer, .threads = plan->options->threads,
                    .stop = &interrupted, .progress = progress, .progress_context = b};
    b->k = item->k;
    if (eval_run(&job, &t->passes, error))
        return -1;
    double start = monotonic_seconds();
    if (i->decode) {
        job.program = i->decode;
        job.fast = i->decode_fast;
        job.sources = item->decode_sources;
        job.sinks = item->decode_sinks;
        if (eval_run(&job, &t->decode_passes, error))
            return -1;
    }
    t->decode += monotonic_seconds() - start;
    start = monotonic_seconds();
    if (plan->options->layout && eval_layout_write(plan, item, error))
        return -1;
    t->layout += monotonic_seconds() - start;
    t->elements += item->m * item->k;
    return 0;
}

static int add_metadata(const eval_plan *plan)
{
    char *recipes = NULL, *identities = NULL;
    size_t sizes[2];
    FILE *names = open_memstream(&recipes, &sizes[0]), *shas = open_memstream(&identities, &sizes[1]);
    bool first = true;
    for (const eval_instance *i = plan->instances; names && shas && i; i = i->next) {
        bool used = false;
        for (int j = 0; j < plan->item_count; j++)
            used = used || plan->items[j].instance == i;
        if (!used)
            continue;
        fprintf(names, "%s%s", first ? "" : "; ", i->program->name);
        fprintf(shas, "%s%s", first ? "" : "; ", i->program->sha256);
        first = false;
    }
    int failed = !names || !shas;
    if (names)
        failed = fclose(names) || failed;
    if (shas)
        failed = fclose(shas) || failed;
    if (!failed)
        failed = safetensors_writer_metadata(plan->writer, "recipe", recipes) ||
                 safetensors_writer_metadata(plan->writer, "sha256", identities) ||
                 safetensors_writer_metadata(plan->writer, "version", ASSAY_VERSION);
    free(recipes);
    free(identities);
    return failed;
}

static int run_items(eval_plan *plan, phases *t, assay_error *error)
{
    bar b = {.shown = isatty(STDERR_FILENO) != 0};
    if (add_metadata(plan))
        return assay_fail(error, "out of memory");
    if (safetensors_writer_create(plan->writer, error))
        return -1;
    for (int i = 0; i < plan->item_count; i++)
        b.total += (double)plan->items[i].m * (double)plan->items[i].k *
                   passes_of(plan->items[i].instance);
    int failed = 0;
    for (int i = 0; i < plan->item_count && !failed; i++)
        failed = run_item(plan, &plan->items[i], &b, t, error);
    if (b.shown)
        fprintf(stderr, "\r%*s\r", 50, "");
    return failed;
}

/* ---- what came out ---- */

static long peak_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_maxrss;
}

static void print_times(const eval_plan *plan, const phases *t)
{
    fprintf(stderr, "assay: %d tensor%s, %" PRId64 " elements; seconds: open %.3f, plan %.3f",
            plan->item_count, plan->item_count == 1 ? "" : "s", t->elements, t->open, t->plan);
    for (int i = 0; i < t->passes.passes; i++)
        fprintf(stderr, ", evaluate pass %d %.3f", i + 1, t->passes.pass[i]);
    if (plan->options->decode)
        fprintf(stderr, ", decode %.3f", t->decode);
    if (plan->options->layout)
        fprintf(stderr, ", layout %.3f", t->layout);
    fprintf(stderr, ", write %.3f (inside the passes, over all threads), finish %.3f; threads %d; "
            "peak memory %ld MiB\n", t->passes.write + t->decode_passes.write, t->finish,
            plan->options->threads, peak_kib() / 1024);
}

static json_t *json_item(const eval_item *item)
{
    const assay_program *p = item->instance->program;
    json_t *shape = json_array(), *outputs = json_array();
    for (int i = 0; i < item->tensor->rank; i++)
        json_array_append_new(shape, json_integer(item->tensor->shape[i]));
    for (int i = 0; i < p->output_count; i++)
        json_array_append_new(outputs, json_string(p->values[p->outputs[i]].name));
    return json_pack("{s:s, s:s, s:o, s:s, s:s, s:o}", "tensor", item->tensor->name, "dtype",
                     item->tensor->dtype, "shape", shape, "recipe", p->name, "sha256", p->sha256,
                     "outputs", outputs);
}

static int print_summary(const eval_plan *plan, const phases *t)
{
    json_t *tensors = json_array(), *left_out = json_array(), *passes = json_array();
    for (int i = 0; i < plan->item_count; i++)
        json_array_append_new(tensors, json_item(&plan->items[i]));
    for (int i = 0; i < plan->left_out_count; i++)
        json_array_append_new(left_out, json_pack("{s:s, s:s}", "tensor",
                                                  plan->left_out[i].tensor->name, "why",
                                                  plan->left_out[i].why));
    for (int i = 0; i < t->passes.passes; i++)
        json_array_append_new(passes, json_real(t->passes.pass[i]));
    json_t *seconds = json_pack("{s:f, s:f, s:o, s:f, s:f, s:f, s:f}", "open", t->open, "plan",
                                t->plan, "evaluate", passes, "decode", t->decode, "layout", t->layout,
                                "write", t->passes.write + t->decode_passes.write, "finish",
                                t->finish);
    return print_json(json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:o, s:i, s:I}", "version",
                                ASSAY_VERSION, "input", plan->options->in, "output",
                                plan->options->out, "tensors", tensors, "left_out", left_out,
                                "elements", (json_int_t)t->elements, "seconds", seconds, "threads",
                                plan->options->threads, "peak_bytes",
                                (json_int_t)peak_kib() * 1024));
}

/* Nothing half-written stays behind, and the shell sees that a signal ended us. */
static int give_up(eval_plan *plan, const char *why)
{
    safetensors_writer_abort(plan->writer);
    plan->writer = NULL;
    if (!interrupted)
        return complain(STATUS_FILE, "%s", why);
    complain(STATUS_FILE, "interrupted: %s was not written", plan->options->out);
    catch_signals(SIG_DFL);
    raise(interrupted);
    return STATUS_FILE;
}

static int evaluate(eval_plan *plan, phases *t)
{
    assay_error error = {""};
    double start = monotonic_seconds();
    int status = eval_plan_make(plan);
    t->plan = monotonic_seconds() - start;
    if (status != STATUS_OK) {
        safetensors_writer_abort(plan->writer);
        return status;
    }
    catch_signals(on_signal);
    if (run_items(plan, t, &error))
        return give_up(plan, error.message);
    start = monotonic_seconds();
    int failed = safetensors_writer_finish(plan->writer, &error);
    t->finish = monotonic_seconds() - start;
    catch_signals(SIG_DFL);
    if (failed)
        return complain(STATUS_FILE, "%s", error.message);
    print_times(plan, t);
    status = plan->left_out_count && !plan->options->skip ? STATUS_FILE : STATUS_OK;
    return plan->options->json ? status_worst(status, print_summary(plan, t)) : status;
}

static int open_and_evaluate(const eval_options *o)
{
    assay_error error = {""};
    eval_plan plan = {.options = o};
    phases t = {0};
    int status = eval_recipe_load(o, &plan.recipe);
    double start = monotonic_seconds();
    safetensors_file *file = NULL;
    if (status == STATUS_OK && !o->exact && assay_fast_selftest(&error))
        status = complain(STATUS_FILE, "%s", error.message);
    if (status == STATUS_OK && !(file = safetensors_open(o->in, &error)))
        status = complain(STATUS_FILE, "%s", error.message);
    t.open = monotonic_seconds() - start;
    plan.file = file;
    if (status == STATUS_OK && !(plan.writer = safetensors_writer_new(o->out, &error)))
        status = complain(STATUS_FILE, "%s", error.message);
    if (status == STATUS_OK)
        status = evaluate(&plan, &t);
    eval_plan_free(&plan);
    safetensors_close(file);
    return status;
}

int cmd_eval(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    eval_options o = {.threads = cores < 1 ? 1 : cores > 256 ? 256 : (int)cores};
    bool helped = false;
    int status = read_options(argc, argv, &o, &helped);
    if (status == STATUS_OK && !helped)
        status = open_and_evaluate(&o);
    free(o.tensors);
    free(o.sets);
    free(o.binds);
    return status;
}
