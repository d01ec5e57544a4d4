/* Where the project's own files lie (reports/, adapters/), and a Python to run them with. */
#ifndef ASSAY_HOME_H
#define ASSAY_HOME_H

#include <stdbool.h>
#include <stddef.h>

/* Path of `what` below $ASSAY_HOME, beside this program, above it or in ../share/assay: the first
 * that can be accessed with `mode` (R_OK, X_OK); false if there is none. */
bool home_find(const char *what, int mode, char *path, size_t size);
/* $ASSAY_PYTHON, else the vendors' environment (.venv-vendors) or the project's (.venv), the
 * vendors' first if `vendors`, else python3. */
void home_python(bool vendors, char *path, size_t size);

#endif
