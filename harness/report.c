#include "report.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "home.h"
#include "results.h"

extern char **environ;

/* ---- scripts and their interpreter ---- */

/* Runs reports/NAME with these arguments; a status. */
static int run_script(const char *name, const char *const *arguments, int count)
{
    char below[64], script[PATH_MAX + 64], python[PATH_MAX + 64];
    snprintf(below, sizeof below, "reports/%s", name);
    if (!home_find(below, R_OK, script, sizeof script))
        return complain(STATUS_FILE, "%s is neither in the source tree of this program nor in "
                        "$ASSAY_HOME: set ASSAY_HOME to the folder that holds reports/", below);
    home_python(false, python, sizeof python);
    const char **argv = calloc((size_t)count + 3, sizeof *argv);
    if (!argv)
        return complain(STATUS_FILE, "out of memory");
    argv[0] = python;
    argv[1] = script;
    for (int i = 0; i < count; i++)
        argv[2 + i] = arguments[i];
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

static int run_report(const char *const *files, int count, const char *html, const char *markdown)
{
    const char **arguments = calloc((size_t)count + 5, sizeof *arguments);
    if (!arguments)
        return complain(STATUS_FILE, "out of memory");
    int n = 0;
    if (html) {
        arguments[n++] = "--html";
        arguments[n++] = html;
    }
    if (markdown) {
        arguments[n++] = "--markdown";
        arguments[n++] = markdown;
    }
    arguments[n++] = "--";
    for (int i = 0; i < count; i++)
        arguments[n++] = files[i];
    int status = run_script("report.py", arguments, n);
    free(arguments);
    return status;
}

int report_geometry(int argc, char **argv)
{
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    /* The script asks this very program for every quantization. */
    if (n > 0 && setenv("ASSAY", program, 1))
        return complain(STATUS_FILE, "out of memory");
    return run_script("experiments_geometry.py", (const char *const *)(uintptr_t)argv, argc);
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
    if (!root && json_error_code(&why) == json_error_cannot_open_file)
        return complain(STATUS_FILE, "%s: cannot be read: %s", path, strerror(errno));
    if (!root)
        return complain(STATUS_FILE, "%s: is no results file: line %d: %s: make it again with assay "
                        "run -o", path, why.line, why.text);
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
        status = status_worst(status, run_report(files, count, html, markdown));
    return status;
}

int report_print(const char *const *files, int count)
{
    return run_report(files, count, NULL, NULL);
}
