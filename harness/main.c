/* assay: looks up the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "run_host.h"

static const command commands[] = {
    {"formats", "the formats; one format's codes", cmd_formats},
    {"recipes", "the recipes; one recipe's text, source, outputs", cmd_recipes},
    {"cast", "one conversion, with both neighbours and the tie status", cmd_cast},
    {"eval", "the reference's answer for a file of tensors", cmd_eval},
    {"explain", "one block, step by step, with the bits of every value", cmd_explain},
    {"vectors", "make, check and list golden vectors", cmd_vectors},
    {"run", "judge adapters on vectors, sweeps or a file of tensors", cmd_run},
    {"report", "results file -> HTML, Markdown, JUnit", cmd_report},
    {"bench", "speed of the engines and of peers, side by side", cmd_bench},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *to)
{
    fprintf(to, "usage: assay COMMAND [OPTIONS]\n\n"
                "A bit-exact numerics reference and conformance suite for low-precision kernels.\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\n`assay COMMAND --help` shows options and an example.\n"
                "Exit status: 0 conforms, 1 does not, 2 wrong usage, 3 an adapter broke, 4 a file is "
                "broken or missing.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return finish_output();
    }
    if (!strcmp(argv[1], "--version")) {
        puts("assay " ASSAY_VERSION);
        return finish_output();
    }
    if (!strcmp(argv[1], RUN_HOST_FLAG)) /* started by ourselves: the process of an adapter */
        return run_host_main(argc, argv);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    const char *names[COMMAND_COUNT];
    char near[64];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    suggest(argv[1], names, COMMAND_COUNT, near, sizeof near);
    return complain(STATUS_USAGE, "there is no command '%s'%s `assay --help` lists them", argv[1],
                    *near ? near : ";");
}
