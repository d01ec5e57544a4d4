/* Peers: other systems' rates, from a Python worker that prints one JSON line for each measurement
 * (adapters/peers_bench.py). A peer that is not there is a row of `absent`, never an error. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "command.h"
#include "home.h"

extern char **environ;

static void take_line(bench *b, const char *line)
{
    json_t *o = json_loads(line, 0, NULL), *e;
    const char *system = json_string_value(json_object_get(o, "system"));
    const char *operation = json_string_value(json_object_get(o, "operation"));
    const char *version = json_string_value(json_object_get(o, "version"));
    const char *reason = json_string_value(json_object_get(o, "absent"));
    json_t *runs = json_object_get(o, "runs");
    double rates[BENCH_RUNS_MAX];
    int count = 0;
    size_t i;
    json_array_foreach(runs, i, e)
        if (count < BENCH_RUNS_MAX)
            rates[count++] = json_number_value(e);
    if (system && operation && reason)
        bench_absent(b, operation, system, reason);
    else if (system && operation && count > 0)
        bench_add(b, operation, system, version ? version : "",
                  json_integer_value(json_object_get(o, "elements")), rates, count);
    else /* a library's chatter */
        fprintf(stderr, "assay: peers: %s", line);
    json_decref(o);
}

/* Starts the worker with its output on a pipe; the reading end, or -1. */
static int start(const char *python, const char *script, const char *runs, pid_t *pid)
{
    int ends[2];
    if (pipe(ends))
        return -1;
    char *argv[] = {(char *)(uintptr_t)python, (char *)(uintptr_t)script, (char *)(uintptr_t)runs,
                    NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failed = posix_spawnp(pid, python, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        errno = failed;
        return -1;
    }
    return ends[0];
}

int bench_peers(bench *b)
{
    char script[PATH_MAX + 64], python[PATH_MAX + 64], runs[16], *line = NULL;
    size_t room = 0;
    pid_t pid;
    if (!home_find("adapters/peers_bench.py", R_OK, script, sizeof script)) {
        bench_absent(b, "all", "peers", "adapters/peers_bench.py is not beside this program nor in "
                                        "$ASSAY_HOME");
        return STATUS_OK;
    }
    home_python(true, python, sizeof python);
    snprintf(runs, sizeof runs, "%d", b->runs);
    int from = start(python, script, runs, &pid);
    FILE *f = from < 0 ? NULL : fdopen(from, "r");
    if (!f) {
        char reason[PATH_MAX + 128];
        snprintf(reason, sizeof reason, "%s cannot be started: %s", python, strerror(errno));
        bench_absent(b, "all", "peers", reason);
        if (from >= 0)
            close(from);
        return STATUS_OK;
    }
    while (getline(&line, &room, f) > 0)
        take_line(b, line);
    free(line);
    fclose(f);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        bench_absent(b, "rest", "peers", "the worker ended before it was done");
    return STATUS_OK;
}
