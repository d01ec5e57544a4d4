#include "report.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "results.h"

extern char **environ;

/* ---- the script and its interpreter ---- */

/* Folders that may be the root of the source tree or of an installation, best first; the i-th into
 * `root`, false after the last. */
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

/* A path below one of the roots that can be accessed so; false if there is none. */
static bool find_below_roots(const char *what, int mode, char *path, size_t size)
{
    char root[PATH_MAX + 32];
    for (int i = 0; root_folder(i, root, sizeof root); i++) {
        snprintf(path, size, "%s/%s", root, what);
        if (*root && access(path, mode) == 0)
            return true;
    }
    return false;
}

static void find_python(char *path, size_t size)
{
    const char *named = getenv("ASSAY_PYTHON");
    if (named && *named)
        snprintf(path, size, "%s", named);
    else if (!find_below_roots(".venv/bin/python", X_OK, path, size) &&
             !find_below_roots(".venv-vendors/bin/python", X_OK, path, size))
        snprintf(path, size, "python3");
}

static int run_script(const char *const *files, int count, const char *html, const char *markdown)
{
    char script[PATH_MAX + 64], python[PATH_MAX + 64];
    if (!find_below_roots("reports/report.py", R_OK, script, sizeof script))
        return complain(STATUS_FILE, "reports/report.py is neither in the source tree of this program "
                        "nor in $ASSAY_HOME: set ASSAY_HOME to the folder that holds reports/");
    find_python(python, sizeof python);
    const char **argv = calloc((size_t)count + 10, sizeof *argv);
    if (!argv)
        return complain(STATUS_FILE, "out of memory");
    int n = 0;
    argv[n++] = python;
    argv[n++] = script;
    if (html) {
        argv[n++] = "--html";
        argv[n++] = html;
    }
    if (markdown) {
        argv[n++] = "--markdown";
        argv[n++] = markdown;
    }
    argv[n++] = "--";
    for (int i = 0; i < count; i++)
        argv[n++] = files[i];
    fflush(stdout);
    pid_t pid;
    int wait_status = -1, failed = posix_spawnp(&pid, python, NULL, NULL,
                                                (char **)(uintptr_t)argv, environ);
    free(argv);
    if (failed)
        return complain(STATUS_FILE, "%s cannot be started: %s: name a Python 3 with ASSAY_PYTHON",
                        python, strerror(failed));
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(wait_status))
        return complain(STATUS_FILE, "%s was killed while it made the report", python);
    int status = WEXITSTATUS(wait_status);
    if (status != STATUS_OK && status != STATUS_USAGE && status != STATUS_FILE)
        return complain(STATUS_FILE, "%s %s failed (exit status %d)", python, script, status);
    return status;
}

/* ---- JUnit: several files as one document ---- */

static bool has_named(const json_t *list, const char *name)
{
    size_t i;
    json_t *e;
    json_array_foreach(list, i, e) {
        const char *other = json_string_value(json_object_get(e, "name"));
        if (other && !strcmp(other, name))
            return true;
    }
    return false;
}

/* Adapters once by name, all verdicts. */
static int append_file(json_t *whole, const char *path)
{
    json_error_t why;
    json_t *root = json_load_file(path, 0, &why), *e;
    if (!root)
        return complain(STATUS_FILE, "%s: is no results file: line %d: %s", path, why.line, why.text);
    json_t *adapters = json_object_get(root, "adapters");
    json_t *verdicts = json_object_get(root, "verdicts");
    int status = STATUS_OK;
    if (!json_is_array(adapters) || !json_is_array(verdicts))
        status = complain(STATUS_FILE, "%s: is no results file: it has no lists of adapters and "
                          "verdicts", path);
    json_t *known = json_object_get(whole, "adapters");
    size_t i;
    json_array_foreach(adapters, i, e) {
        const char *name = json_string_value(json_object_get(e, "name"));
        if (name && !has_named(known, name))
            json_array_append(known, e);
    }
    json_array_extend(json_object_get(whole, "verdicts"), verdicts);
    json_decref(root);
    return status;
}

static int write_junit(const char *const *files, int count, const char *path)
{
    json_t *whole = json_pack("{s:[], s:[]}", "adapters", "verdicts");
    int status = STATUS_OK;
    for (int i = 0; i < count; i++)
        status = status_worst(status, append_file(whole, files[i]));
    assay_error error;
    if (status == STATUS_OK && junit_write(whole, path, &error))
        status = complain(STATUS_FILE, "%s", error.message);
    json_decref(whole);
    return status;
}

int report_render(const char *const *files, int count, const char *html, const char *markdown,
                  const char *junit)
{
    int status = STATUS_OK;
    if (junit)
        status = write_junit(files, count, junit);
    if (html || markdown)
        status = status_worst(status, run_script(files, count, html, markdown));
    return status;
}

int report_print(const char *const *files, int count)
{
    return run_script(files, count, NULL, NULL);
}
