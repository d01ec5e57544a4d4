/* Reports of results files: HTML and Markdown by reports/report.py, JUnit XML by junit.c. */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

/* Writes the wanted ones of `files` (one or more results files, shown as one); NULL: not
 * wanted. HTML and Markdown need Python with Jinja2: $ASSAY_PYTHON, else .venv or .venv-vendors of the
 * source tree, else python3. Complains by itself; returns a status. */
int report_render(const char *const *files, int count, const char *html, const char *markdown,
                  const char *junit);
/* The Markdown to standard output. */
int report_print(const char *const *files, int count);
/* assay report geometry: the arguments go to reports/experiments_geometry.py. */
int report_geometry(int argc, char **argv);

#endif
