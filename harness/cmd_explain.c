/* assay explain: one block of a recipe, step by step, with the bits of every value. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "explain_input.h"

static const char help[] =
    "usage: assay explain RECIPE --values V,V,... [OPTIONS]\n"
    "       assay explain RECIPE --bits 0x...,0x... --from FMT [OPTIONS]\n"
    "       assay explain RECIPE -i FILE.safetensors --tensor NAME --block R,C [OPTIONS]\n\n"
    "Every statement of the recipe with its values: decimal, hex float, bits; where something is\n"
    "rounded, both neighbours and the exact value's place between them.\n\n"
    "  --values V,...       the matrix: decimals, hex floats, nan, inf\n"
    "  --bits 0x...,...     the same as codes of the format that --from names\n"
    "  --from FMT           the values' format; picks the instance that takes it\n"
    "  --shape MxK          default: one row; one column or a square for such blocks\n"
    "  -i, --input FILE     a tensor of a file instead\n"
    "  --tensor NAME        which; its last dimension is K, the others are rows\n"
    "  --block R,C          which block of it, counted in blocks from 0,0\n"
    "  --set NAME=VALUE     a parameter; or a further input: one value, or a list of all\n"
    "  --bind INPUT=TENSOR  a further input from a tensor of FILE\n"
    "  --recipe-file FILE   a recipe of your own\n"
    "  --json               one JSON object\n\n"
    "Example: assay explain te.nvfp4.1d --values 1,2.5,-3,0.1,6,0,0,0,0,0,0,0,0,0,0,448\n";

enum { VALUES = 256, BITS, FROM, SHAPE, TENSOR, BLOCK, SET, BIND, RECIPE_FILE, JSON };

static const struct option long_options[] = {
    {"values", required_argument, NULL, VALUES},
    {"bits", required_argument, NULL, BITS},
    {"from", required_argument, NULL, FROM},
    {"shape", required_argument, NULL, SHAPE},
    {"input", required_argument, NULL, 'i'},
    {"tensor", required_argument, NULL, TENSOR},
    {"block", required_argument, NULL, BLOCK},
    {"set", required_argument, NULL, SET},
    {"bind", required_argument, NULL, BIND},
    {"recipe-file", required_argument, NULL, RECIPE_FILE},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static int read_option(explain_options *o, int c)
{
    const char **text = c == VALUES        ? &o->values
                        : c == BITS        ? &o->bits
                        : c == FROM        ? &o->from
                        : c == SHAPE       ? &o->shape
                        : c == 'i'         ? &o->eval.in
                        : c == TENSOR      ? &o->tensor
                        : c == BLOCK       ? &o->block
                        : c == RECIPE_FILE ? &o->eval.recipe_file
                                           : NULL;
    if (text) {
        *text = optarg;
        return STATUS_OK;
    }
    switch (c) {
    case SET:
        return eval_add_setting(&o->eval.sets, &o->eval.set_count, optarg, "--set");
    case BIND:
        return eval_add_setting(&o->eval.binds, &o->eval.bind_count, optarg, "--bind");
    case JSON:
        o->json = true;
        return STATUS_OK;
    default:
        return complain(STATUS_USAGE, "`assay explain --help` lists the options");
    }
}

static int check_options(const explain_options *o)
{
    if (!o->eval.recipe && !o->eval.recipe_file)
        return complain(STATUS_USAGE, "which recipe? `assay recipes` lists them");
    if ((o->values != NULL) + (o->bits != NULL) + (o->eval.in != NULL) != 1)
        return complain(STATUS_USAGE, "give --values, or --bits, or -i FILE with --tensor");
    if (o->bits && !o->from)
        return complain(STATUS_USAGE, "--bits: of which format? give --from");
    if (o->eval.in && !o->tensor)
        return complain(STATUS_USAGE, "-i %s: which tensor? give --tensor", o->eval.in);
    return STATUS_OK;
}

static int read_options(int argc, char **argv, explain_options *o, bool *helped)
{
    int c, status = STATUS_OK;
    optind = 0;
    while (status == STATUS_OK && (c = getopt_long(argc, argv, "i:h", long_options, NULL)) != -1) {
        if (c == 'h') {
            *helped = true;
            fputs(help, stdout);
            return finish_output();
        }
        status = read_option(o, c);
    }
    if (status != STATUS_OK)
        return status;
    if (optind < argc)
        o->eval.recipe = argv[optind++];
    if (optind < argc)
        return complain(STATUS_USAGE, "'%s': one recipe at a time", argv[optind]);
    return check_options(o);
}

static int print_explanation(const explain_options *o, const explain_request *r)
{
    assay_error error;
    if (o->json) {
        json_t *document = explain_json(r, &error);
        return document ? print_json(document) : complain(STATUS_FILE, "%s", error.message);
    }
    char *text = explain_text(r, &error);
    if (!text)
        return complain(STATUS_FILE, "%s", error.message);
    fputs(text, stdout);
    free(text);
    return finish_output();
}

int cmd_explain(int argc, char **argv)
{
    explain_options o = {.eval = {.exact = true, .threads = 1}};
    bool helped = false;
    int status = read_options(argc, argv, &o, &helped);
    if (status == STATUS_OK && !helped) {
        explain_input input;
        status = explain_input_make(&o, &input);
        if (status == STATUS_OK)
            status = print_explanation(&o, &input.request);
        explain_input_free(&input);
    }
    free(o.eval.sets);
    free(o.eval.binds);
    return status;
}
