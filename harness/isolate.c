#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

enum { TICK = 20 }; /* milliseconds between two looks at memory and life */

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/* ---- start ---- */

/* Between fork and exec: async-signal-safe calls only. */
static void become_child(const isolate_options *o, int channel, int print, char *const *environment)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int from[4] = {channel, o->inputs, o->outputs, print};
    for (int i = 0; i < 4; i++)
        from[i] = fcntl(from[i], F_DUPFD, 64);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(from[3], 1);
    dup2(from[3], 2);
    dup2(from[0], ISOLATE_CHANNEL);
    dup2(from[1], ISOLATE_INPUTS);
    dup2(from[2], ISOLATE_OUTPUTS);
    close_range(ISOLATE_OUTPUTS + 1, ~0u, 0);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    /* The parent's look at resident memory is the limit; this one stops what outruns the look.
     * Sanitizers map their shadow as data. */
    if (o->memory_limit > 0 && !SANITIZED) {
        rlim_t most = (rlim_t)o->memory_limit + ((rlim_t)1 << 30);
        struct rlimit data = {most, most};
        setrlimit(RLIMIT_DATA, &data);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execvpe(o->argv[0], o->argv, environment);
    static const char text[] = "cannot execute the program\n";
    if (write(2, text, sizeof text - 1) < 0)
        _exit(126);
    _exit(127);
}

static char **joined_environment(char *const *added)
{
    extern char **environ;
    size_t ours = 0, theirs = 0;
    while (environ[ours])
        ours++;
    while (added && added[theirs])
        theirs++;
    char **all = calloc(ours + theirs + 1, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, environ, ours * sizeof *all);
    for (size_t i = 0; i < theirs; i++) { /* an added one replaces ours of the same name */
        size_t n = strcspn(added[i], "=") + 1, at = 0;
        while (at < ours && strncmp(all[at], added[i], n))
            at++;
        if (at == ours)
            ours++;
        all[at] = added[i];
    }
    return all;
}

int isolate_start(isolate *c, const isolate_options *options, assay_error *error)
{
    *c = (isolate){.options = *options, .channel = -1, .print = -1};
    int channel[2], print[2];
    char **environment = joined_environment(options->environment);
    if (!environment)
        return assay_fail(error, "%s: out of memory", options->argv[0]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel)) {
        free(environment);
        return assay_fail(error, "%s: no socket for the child: %s", options->argv[0],
                          strerror(errno));
    }
    if (pipe2(print, O_CLOEXEC)) {
        close(channel[0]), close(channel[1]);
        free(environment);
        return assay_fail(error, "%s: no pipe for the child: %s", options->argv[0],
                          strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0)
        become_child(options, channel[1], print[1], environment);
    int why = errno;
    free(environment);
    close(channel[1]), close(print[1]);
    c->channel = channel[0];
    c->print = print[0];
    if (pid < 0) {
        isolate_end(c, NULL, 0);
        return assay_fail(error, "%s: cannot fork: %s", options->argv[0], strerror(why));
    }
    c->pid = pid;
    fcntl(c->channel, F_SETFL, O_NONBLOCK);
    fcntl(c->print, F_SETFL, O_NONBLOCK);
    return 0;
}

bool isolate_alive(const isolate *c)
{
    return c->pid > 0;
}

/* ---- what it prints ---- */

static void keep_printed(isolate *c, const char *bytes, size_t n)
{
    c->printed += n;
    if (n > ISOLATE_LOG)
        bytes += n - ISOLATE_LOG, n = ISOLATE_LOG;
    if (c->log_used + n > sizeof c->log) {
        size_t keep = sizeof c->log - ISOLATE_LOG;
        memmove(c->log, c->log + c->log_used - keep, keep);
        c->log_used = keep;
    }
    memcpy(c->log + c->log_used, bytes, n);
    c->log_used += n;
}

/* Bounded a call, so that a child that prints without end cannot hold us here. */
static void drain_print(isolate *c)
{
    char bytes[16384];
    for (int i = 0; c->print >= 0 && i < 16; i++) {
        ssize_t n = read(c->print, bytes, sizeof bytes);
        if (n > 0) {
            keep_printed(c, bytes, (size_t)n);
        } else {
            if (n == 0 || (errno != EAGAIN && errno != EINTR))
                close(c->print), c->print = -1;
            return;
        }
    }
}

char *isolate_printed(const isolate *c)
{
    size_t from = c->log_used > ISOLATE_LOG ? c->log_used - ISOLATE_LOG : 0;
    char *text = malloc(c->log_used - from + 1);
    if (!text)
        return NULL;
    size_t n = 0;
    for (size_t i = from; i < c->log_used; i++) {
        unsigned char b = (unsigned char)c->log[i];
        text[n++] = b == '\n' || (b >= 32 && b < 127) ? (char)b : '?';
    }
    text[n] = '\0';
    return text;
}

/* ---- its end ---- */

static void say_end(isolate *c, int status)
{
    if (WIFSIGNALED(status)) {
        c->signal = WTERMSIG(status);
        snprintf(c->end, sizeof c->end, "ended by signal %d (%s)", c->signal,
                 strsignal(c->signal));
    } else {
        snprintf(c->end, sizeof c->end, "exited with status %d", WEXITSTATUS(status));
    }
}

static bool reap(isolate *c, int flags)
{
    int status;
    pid_t got;
    do
        got = waitpid(c->pid, &status, flags);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    if (got > 0 && !c->end[0])
        say_end(c, status);
    kill(-c->pid, SIGKILL); /* what it left behind in its session */
    c->pid = 0;
    return true;
}

static void close_ends(isolate *c)
{
    drain_print(c);
    if (c->channel >= 0)
        close(c->channel);
    if (c->print >= 0)
        close(c->print);
    c->channel = c->print = -1;
    free(c->line);
    c->line = NULL;
    c->line_used = c->line_size = c->line_taken = 0;
}

static void kill_child(isolate *c)
{
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        kill(c->pid, SIGKILL);
        reap(c, 0);
    }
    close_ends(c);
}

/* The channel is closed or dead: waits a little for the exit status, else kills. */
static isolate_event gone(isolate *c, const char *otherwise)
{
    for (int i = 0; c->pid > 0 && i < 200 && !reap(c, WNOHANG); i++) {
        drain_print(c);
        poll(NULL, 0, 5);
    }
    if (c->pid > 0)
        snprintf(c->end, sizeof c->end, "%s", otherwise);
    kill_child(c);
    return ISOLATE_DIED;
}

void isolate_end(isolate *c, const char *request, double grace)
{
    if (c->pid > 0 && request) {
        size_t n = strlen(request);
        if (send(c->channel, request, n, MSG_NOSIGNAL) == (ssize_t)n)
            (void)!send(c->channel, "\n", 1, MSG_NOSIGNAL);
        for (double until = monotonic_seconds() + grace; monotonic_seconds() < until && !reap(c, WNOHANG);) {
            drain_print(c);
            poll(NULL, 0, 2);
        }
    }
    kill_child(c);
}

/* ---- one question ---- */

static bool over_memory(const isolate *c)
{
    if (c->options.memory_limit <= 0)
        return false;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)c->pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    long long size, resident = 0, shared = 0;
    int got = fscanf(f, "%lld %lld %lld", &size, &resident, &shared);
    fclose(f);
    return got == 3 && (resident - shared) * sysconf(_SC_PAGESIZE) > c->options.memory_limit;
}

/* A whole line in the buffer? Cuts it off and returns it. */
static const char *take_line(isolate *c)
{
    char *end = c->line_used ? memchr(c->line, '\n', c->line_used) : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    c->line_taken = (size_t)(end - c->line) + 1;
    return c->line;
}

static void drop_taken(isolate *c)
{
    if (c->line_taken)
        memmove(c->line, c->line + c->line_taken, c->line_used - c->line_taken);
    c->line_used -= c->line_taken;
    c->line_taken = 0;
}

/* 1 more came, 0 nothing now, -1 closed or too long. */
static int read_channel(isolate *c)
{
    if (c->line_used + 65536 > c->line_size) {
        if (c->line_used > ISOLATE_LINE_LIMIT)
            return -1;
        char *more = realloc(c->line, c->line_size + 131072);
        if (!more)
            return -1;
        c->line = more;
        c->line_size += 131072;
    }
    ssize_t n = recv(c->channel, c->line + c->line_used, 65536, 0);
    if (n > 0) {
        c->line_used += (size_t)n;
        return 1;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

isolate_event isolate_ask(isolate *c, const char *request, double seconds, const char **answer)
{
    size_t length = strlen(request), sent = 0; /* the newline is sent as byte `length` */
    double start = monotonic_seconds(), looked = start;
    drop_taken(c);
    for (;;) {
        if (sent <= length) {
            const char *from = sent < length ? request + sent : "\n";
            size_t want = sent < length ? length - sent : 1;
            ssize_t n = send(c->channel, from, want, MSG_NOSIGNAL);
            if (n > 0) {
                sent += (size_t)n;
                continue;
            }
            if (n < 0 && errno != EAGAIN && errno != EINTR)
                return gone(c, "closed the channel to the harness");
        }
        struct pollfd wait[2] = {
            {.fd = c->channel, .events = (short)(POLLIN | (sent <= length ? POLLOUT : 0))},
            {.fd = c->print, .events = POLLIN}};
        poll(wait, 2, TICK);
        if (wait[1].revents)
            drain_print(c);
        if (wait[0].revents & (POLLIN | POLLHUP | POLLERR)) {
            int got = read_channel(c);
            if ((*answer = take_line(c))) {
                drain_print(c);
                return ISOLATE_ANSWER;
            }
            if (got < 0)
                return gone(c, "closed the channel to the harness");
        }
        double t = monotonic_seconds();
        if (t - looked > 0.04) {
            looked = t;
            if (c->options.stop && *c->options.stop) {
                kill_child(c);
                return ISOLATE_STOPPED;
            }
            if (over_memory(c)) {
                kill_child(c);
                return ISOLATE_MEMORY;
            }
            if (reap(c, WNOHANG)) { /* its children may hold the channel open */
                kill_child(c);
                return ISOLATE_DIED;
            }
            if (t - start > seconds) {
                kill_child(c);
                return ISOLATE_HANG;
            }
        }
    }
}
