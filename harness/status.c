/* Exit statuses, messages and checked output: shared by all subcommands. */
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
