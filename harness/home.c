#include "home.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The i-th folder that may be the root of the source tree or of an installation, best first; false
 * after the last. */
static bool root_folder(int i, char *root, size_t size)
{
    static const char *const beside[] = {"", "/..", "/../..", "/../share/assay"};
    enum { BESIDE = sizeof beside / sizeof beside[0] };
    const char *home = getenv("ASSAY_HOME");
    if (i == 0) {
        snprintf(root, size, "%s", home ? home : "");
        return true;
    }
    if (i > BESIDE)
        return false;
    char folder[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    snprintf(root, size, "%s%s", folder, beside[i - 1]);
    return true;
}

bool home_find(const char *what, int mode, char *path, size_t size)
{
    char root[PATH_MAX + 32];
    for (int i = 0; root_folder(i, root, sizeof root); i++) {
        snprintf(path, size, "%s/%s", root, what);
        if (*root && access(path, mode) == 0)
            return true;
    }
    return false;
}

void home_python(bool vendors, char *path, size_t size)
{
    static const char *const environments[] = {".venv/bin/python", ".venv-vendors/bin/python"};
    const char *named = getenv("ASSAY_PYTHON");
    if (named && *named)
        snprintf(path, size, "%s", named);
    else if (!home_find(environments[vendors], X_OK, path, size) &&
             !home_find(environments[!vendors], X_OK, path, size))
        snprintf(path, size, "python3");
}
