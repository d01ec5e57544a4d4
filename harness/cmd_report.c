/* assay report RESULTS...: results files as HTML, Markdown, JUnit. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"

static const char help[] =
    "usage: assay report RESULTS.json... [--html FILE] [--markdown FILE] [--junit FILE]\n"
    "       assay report geometry --weights FILE.safetensors [--json F] [--markdown F] [--svg F]\n\n"
    "Reports of what `assay run -o` wrote; several files are shown as one.\n\n"
    "  --html FILE      one self-contained page: the matrix recipes x adapters, what differs and why\n"
    "  --markdown FILE  short, for a pull request\n"
    "  --junit FILE     JUnit XML\n\n"
    "geometry: 1D against 2D scales on your weights: reconstruction error, underflows, transposes,\n"
    "permuted rows, bytes of scales (needs NumPy).\n\n"
    "Without any of them the Markdown goes to standard output. HTML and Markdown need Python 3 with\n"
    "Jinja2 (make deps); ASSAY_PYTHON names another interpreter.\n\n"
    "example: assay run --adapter ml_dtypes --recipe 'cast.ml_dtypes(*)' -o results.json\n"
    "         assay report results.json --html report.html\n";

/* The place to which an option's value belongs, or NULL: no such option. */
static const char **place_of(const char *option, const char **html, const char **markdown,
                             const char **junit)
{
    return !strcmp(option, "--html")       ? html
           : !strcmp(option, "--markdown") ? markdown
           : !strcmp(option, "--junit")    ? junit
                                           : NULL;
}

int cmd_report(int argc, char **argv)
{
    const char *html = NULL, *markdown = NULL, *junit = NULL;
    const char **files = calloc((size_t)argc, sizeof *files);
    int count = 0, status = STATUS_OK;
    if (argc > 1 && !strcmp(argv[1], "geometry")) {
        free(files);
        return report_geometry(argc - 2, argv + 2);
    }
    if (!files)
        return complain(STATUS_FILE, "out of memory");
    for (int i = 1; i < argc && status == STATUS_OK; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            free(files);
            return finish_output();
        }
        const char **place = place_of(argv[i], &html, &markdown, &junit);
        if (place && i + 1 < argc && *argv[i + 1])
            *place = argv[++i];
        else if (place)
            status = complain(STATUS_USAGE, "report: %s needs a file", argv[i]);
        else if (argv[i][0] == '-')
            status = complain(STATUS_USAGE, "report: there is no option '%s'; see assay report --help",
                              argv[i]);
        else
            files[count++] = argv[i];
    }
    if (status == STATUS_OK && !count)
        status = complain(STATUS_USAGE, "report: name a results file (assay run -o FILE writes one)");
    if (status == STATUS_OK)
        status = html || markdown || junit ? report_render(files, count, html, markdown, junit)
                                           : report_print(files, count);
    free(files);
    return status;
}
