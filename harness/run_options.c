#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "run.h"

static const char help_text[] =
    "usage: assay run --adapter A[,A...] [OPTIONS]\n\n"
    "Judges adapters against the contracts of recipes, bit for bit.\n\n"
    "  --adapter A[,A...]    NAME[:OPTIONS] (NAME.so or NAME/worker.py in $ASSAY_ADAPTERS or beside\n"
    "                        the program), the path of a .so, recipe:NAME (the reference under\n"
    "                        another contract), recorded:FILE, command:'./tool {in} {out}'; quotes\n"
    "                        around what follows the colon keep its commas together\n"
    "  --recipe GLOB[,GLOB]  recipes (their primary instances), instances ('cast.nvidia(*)' takes\n"
    "                        all), or one instance; default: all recipes\n"
    "  --recipe-file FILE    a recipe of your own\n"
    "  --class C[,C...]      special sweep16 edges random heavy shapes sequence; default: all\n"
    "  --sweep f32           all 2^32 inputs of casts from f32 instead\n"
    "  --input FILE          a safetensors file: its tensors instead (class real)\n"
    "  --seed N, --dir D     of made vectors; where golden ones lie (vectors/golden)\n"
    "  --shard I/N           the I-th of N parts, I from 1\n"
    "  --time-limit S        for one call (30)      --memory-limit MIB  of the adapter (4096)\n"
    "  --repeat N            calls of each case (2) --threads N         of a sweep (all cores)\n"
    "  --max-failures N      give a set up after N failing cases\n"
    "  --fail-on acceptable  differences that the contract leaves open fail too\n"
    "  --expect FILE         results of an earlier run: name FIX, REGRESSION, MISSING\n"
    "  -o FILE               results, JSON          --junit F, --html F, --markdown F\n"
    "  --json                results on standard output\n\n"
    "example: assay run --adapter cuda_headers --recipe 'cast.nvidia(*)' -o results.json\n\n"
    "Exit status: 0 all conform, 1 one does not, 3 an adapter broke or nothing ran, 4 a file.\n";

enum { OPT_FIRST = 256, OPT_ADAPTER, OPT_RECIPE, OPT_RECIPE_FILE, OPT_CLASS, OPT_SWEEP, OPT_INPUT,
       OPT_SHARD, OPT_TIME, OPT_MEMORY, OPT_REPEAT, OPT_JUNIT, OPT_HTML, OPT_MARKDOWN, OPT_MAX,
       OPT_FAIL_ON, OPT_EXPECT, OPT_JSON, OPT_SEED, OPT_DIR, OPT_THREADS, OPT_PROPERTIES };

static const struct option options[] = {
    {"adapter", required_argument, NULL, OPT_ADAPTER},
    {"recipe", required_argument, NULL, OPT_RECIPE},
    {"recipe-file", required_argument, NULL, OPT_RECIPE_FILE},
    {"class", required_argument, NULL, OPT_CLASS},
    {"sweep", required_argument, NULL, OPT_SWEEP},
    {"input", required_argument, NULL, OPT_INPUT},
    {"shard", required_argument, NULL, OPT_SHARD},
    {"time-limit", required_argument, NULL, OPT_TIME},
    {"memory-limit", required_argument, NULL, OPT_MEMORY},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"junit", required_argument, NULL, OPT_JUNIT},
    {"html", required_argument, NULL, OPT_HTML},
    {"markdown", required_argument, NULL, OPT_MARKDOWN},
    {"max-failures", required_argument, NULL, OPT_MAX},
    {"fail-on", required_argument, NULL, OPT_FAIL_ON},
    {"expect", required_argument, NULL, OPT_EXPECT},
    {"json", no_argument, NULL, OPT_JSON},
    {"seed", required_argument, NULL, OPT_SEED},
    {"dir", required_argument, NULL, OPT_DIR},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"properties", no_argument, NULL, OPT_PROPERTIES},
    {"out", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static bool number(const char *text, double least, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && *value >= least && *value < 1e15;
}

static int add_words(char ***words, int *count, const char *list)
{
    int n;
    char **more = run_split(list, &n);
    *words = realloc(*words, (size_t)(*count + n + 1) * sizeof **words);
    for (int i = 0; i < n; i++)
        (*words)[(*count)++] = more[i];
    free(more);
    return n;
}

static int bad_value(const char *name, const char *value, const char *want)
{
    return complain(STATUS_USAGE, "--%s %s: must be %s", name, value, want);
}

static int take(run_options *o, int option, const char *name, const char *value)
{
    double n = 0;
    bool numeric = option == OPT_TIME || option == OPT_MEMORY || option == OPT_REPEAT ||
                   option == OPT_MAX || option == OPT_THREADS;
    if (numeric && !number(value, option == OPT_TIME ? 0.01 : 1, &n))
        return bad_value(name, value, "a positive number");
    char *end;
    switch (option) {
    case OPT_ADAPTER:
        if (!add_words(&o->adapters, &o->adapter_count, value))
            return bad_value(name, value, "one or more names");
        break;
    case OPT_CLASS:
        if (!add_words(&o->classes, &o->class_count, value))
            return bad_value(name, value, "one or more names");
        break;
    case OPT_RECIPE:
        if (!value[strspn(value, " ,")])
            return bad_value(name, value, "one or more names");
        o->recipes = value;
        break;
    case OPT_RECIPE_FILE: o->recipe_file = value; break;
    case OPT_SWEEP: o->sweep = value; break;
    case OPT_INPUT: o->input = value; break;
    case OPT_TIME: o->time_limit = n; break;
    case OPT_MEMORY: o->memory_limit = (int64_t)n << 20; break;
    case OPT_REPEAT: o->repeat = (int)n; break;
    case OPT_THREADS: o->threads = (int)n; break;
    case OPT_MAX: o->max_failures = (int64_t)n; break;
    case OPT_JUNIT: o->junit = value; break;
    case OPT_HTML: o->html = value; break;
    case OPT_MARKDOWN: o->markdown = value; break;
    case OPT_EXPECT: o->expect = value; break;
    case OPT_DIR: o->dir = value; break;
    case OPT_JSON: o->json = true; break;
    case 'o': o->out = value; break;
    case OPT_SEED:
        o->seed = strtoull(value, &end, 0);
        if (!*value || *end)
            return bad_value(name, value, "a number");
        break;
    case OPT_SHARD:
        if (sscanf(value, "%d/%d%n", &o->shard, &o->shards, &(int){0}) != 2 || o->shard < 1 ||
            o->shard > o->shards)
            return bad_value(name, value, "I/N with I from 1 to N");
        break;
    case OPT_FAIL_ON:
        if (strcmp(value, "fail") && strcmp(value, "acceptable"))
            return bad_value(name, value, "fail or acceptable");
        o->acceptable_fails = !strcmp(value, "acceptable");
        break;
    case OPT_PROPERTIES:
        return complain(STATUS_USAGE, "--properties is not there yet: run classes or a sweep");
    }
    return STATUS_OK;
}

static int check(const run_options *o)
{
    if (!o->adapter_count)
        return complain(STATUS_USAGE, "run needs --adapter; `assay run --help`");
    if (o->sweep && strcmp(o->sweep, "f32"))
        return complain(STATUS_USAGE, "--sweep %s: %s", o->sweep,
                        !strcmp(o->sweep, "pair")
                            ? "the sweep over all pairs of amax and element is not there yet; use "
                              "--class edges,random,heavy, or --sweep f32 for casts"
                            : "must be f32");
    if (o->sweep && o->input)
        return complain(STATUS_USAGE, "--sweep and --input exclude each other");
    for (int i = 0; i < o->class_count; i++)
        if (!assay_class_find(o->classes[i]) && strcmp(o->classes[i], "sequence")) {
            char list[256] = "sequence";
            for (int j = 0; j < assay_class_count; j++)
                snprintf(list + strlen(list), sizeof list - strlen(list), " %s",
                         assay_classes[j].name);
            return complain(STATUS_USAGE, "--class %s: there is no such class; there are: %s",
                            o->classes[i], list);
        }
    return STATUS_OK;
}

int run_options_parse(int argc, char **argv, run_options *o, bool *help)
{
    *o = (run_options){.time_limit = 30, .memory_limit = (int64_t)4096 << 20, .repeat = 2,
                       .shard = 1, .shards = 1, .seed = 1, .dir = "vectors/golden"};
    *help = false;
    optind = 0;
    opterr = 0;
    int got, index = -1, status = STATUS_OK;
    while (status == STATUS_OK && (got = getopt_long(argc, argv, "o:h", options, &index)) != -1) {
        if (got == 'h') {
            fputs(help_text, stdout);
            *help = true;
            return finish_output();
        }
        if (got == '?')
            return complain(STATUS_USAGE, "run: %s: %s; `assay run --help`", argv[optind - 1],
                            optopt && optopt < OPT_FIRST && optopt != 'o' ? "unknown option"
                                                                          : "unknown option, or its value is missing");
        status = take(o, got, got == 'o' ? "o" : options[index].name, optarg);
    }
    if (status == STATUS_OK && optind < argc)
        return complain(STATUS_USAGE, "run: '%s' is no option; recipes are given with --recipe",
                        argv[optind]);
    return status == STATUS_OK ? check(o) : status;
}

void run_options_free(run_options *o)
{
    run_split_free(o->adapters, o->adapter_count);
    run_split_free(o->classes, o->class_count);
}
