/* Exit statuses, messages and checked output: shared by all subcommands. */
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/recipe_syntax.h"

int status_worst(int a, int b)
{
    static const int rank[] = {[STATUS_OK] = 0, [STATUS_DIFFERS] = 1, [STATUS_ADAPTER] = 2,
                               [STATUS_FILE] = 3, [STATUS_USAGE] = 4};
    return rank[a] >= rank[b] ? a : b;
}

int complain(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("assay: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return status;
}

int finish_output(void)
{
    if (fflush(stdout) || ferror(stdout))
        return complain(STATUS_FILE, "standard output: %s; nothing more was written",
                        strerror(errno));
    return STATUS_OK;
}

int print_json(json_t *document)
{
    if (json_dumpf(document, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0)
        fputc('\n', stdout);
    json_decref(document);
    return finish_output();
}

void suggest(const char *word, const char *const *names, int count, char *buffer, size_t size)
{
    const char *near = recipe_nearest(word, names, count);
    snprintf(buffer, size, "%s%s%s", near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
}

int complain_no_format(const char *caller, const char *name)
{
    char near[64] = "";
    const char **names = calloc(assay_format_count, sizeof *names);
    for (size_t i = 0; names && i < assay_format_count; i++)
        names[i] = assay_formats[i].name;
    if (names)
        suggest(name, names, (int)assay_format_count, near, sizeof near);
    free(names);
    return complain(STATUS_USAGE, "%s: there is no format '%s'%s `assay formats` lists them", caller,
                    name, *near ? near : ":");
}
