#include "run_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isolate.h"

enum { MESSAGE = 1024 };

/* The one process-wide state: a signal handler gets no argument of ours. */
static host_map fault_map;

typedef struct {
    const assay_adapter *adapter;
    const char *path; /* for describe */
    void *state;
    json_t *contract_text; /* owns the strings of `contract` */
    assay_setting *settings;
    assay_contract contract;
    json_int_t contract_id;
    FILE *channel;
} host;

/* ---- memory faults ---- */

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    char blame[256], line[320];
    if (info->si_code > 0 && host_map_blame(&fault_map, info->si_addr, blame, sizeof blame)) {
        size_t n = 0;
        for (const char *p = "{\"fault\": \""; *p; p++)
            line[n++] = *p;
        for (const char *p = blame; *p; p++)
            line[n++] = *p;
        for (const char *p = "\"}\n"; *p; p++)
            line[n++] = *p;
        if (write(ISOLATE_CHANNEL, line, n) > 0)
            _exit(1);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_faults(void)
{
    static char stack[65536]; /* a smashed or exhausted stack cannot carry a handler */
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* ---- answers ---- */

static int reply(json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(object);
    if (!line)
        return -1;
    size_t n = strlen(line), sent = 0;
    line[n] = '\n'; /* in place of the terminator: length is known */
    while (sent <= n) {
        ssize_t got = write(ISOLATE_CHANNEL, line + sent, n + 1 - sent);
        if (got < 0 && errno != EINTR)
            break;
        sent += got > 0 ? (size_t)got : 0;
    }
    free(line);
    return sent > n ? 0 : -1;
}

/* An adapter's message may be anything: made valid UTF-8 by dropping what is not ASCII. */
static json_t *answer_object(assay_answer a, char *message)
{
    static const char *const words[] = {"done", "unsupported", "failed"};
    message[MESSAGE - 1] = '\0';
    for (char *p = message; *p; p++)
        if ((unsigned char)*p >= 127 || (unsigned char)*p < 32)
            *p = '?';
    int known = a == ASSAY_DONE || a == ASSAY_UNSUPPORTED || a == ASSAY_FAILED;
    if (!known)
        snprintf(message, MESSAGE, "the adapter returned %d, which is no answer", (int)a);
    json_t *object = json_pack("{s:s}", "answer", words[known ? a : ASSAY_FAILED]);
    if (*message)
        json_object_set_new(object, "message", json_string(message));
    return object;
}

/* ---- the calls ---- */

static json_t *call_hello(host *h, const json_t *request)
{
    char message[MESSAGE] = "";
    const char *options = json_string_value(json_object_get(request, "options"));
    assay_answer a = ASSAY_DONE;
    if (h->adapter->open)
        a = h->adapter->open(&h->state, options ? options : "", message, sizeof message);
    json_t *object = answer_object(a, message);
    if (a != ASSAY_DONE)
        return object;
    assay_description d = {.device = "host"};
    snprintf(d.library, sizeof d.library, "%s", strrchr(h->path, '/') ? strrchr(h->path, '/') + 1
                                                                      : h->path);
    if (h->adapter->describe)
        h->adapter->describe(h->state, &d);
    d.library[sizeof d.library - 1] = d.version[sizeof d.version - 1] = '\0';
    d.device[sizeof d.device - 1] = '\0';
    json_object_set_new(object, "protocol", json_integer(1));
    json_object_set_new(object, "library", json_string(d.library));
    json_object_set_new(object, "version", json_string(d.version));
    json_object_set_new(object, "device", json_string(d.device));
    return object;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_t *call_supports(host *h, const json_t *request)
{
    char message[MESSAGE] = "";
    json_decref(h->contract_text);
    free(h->settings);
    h->contract_text = json_deep_copy(json_object_get(request, "contract"));
    const json_t *c = h->contract_text, *settings = json_object_get(c, "settings");
    size_t n = json_array_size(settings);
    h->settings = calloc(n + 1, sizeof *h->settings);
    for (size_t i = 0; h->settings && i < n; i++) {
        const json_t *pair = json_array_get(settings, i);
        h->settings[i] = (assay_setting){json_string_value(json_array_get(pair, 0)),
                                         json_string_value(json_array_get(pair, 1))};
    }
    h->contract_id = json_integer_value(json_object_get(c, "id"));
    h->contract = (assay_contract){.instance = text_of(c, "instance"),
                                   .recipe = text_of(c, "recipe"),
                                   .sha256 = text_of(c, "sha256"),
                                   .canonical = text_of(c, "canonical"),
                                   .settings = h->settings,
                                   .setting_count = h->settings ? (int64_t)n : 0};
    assay_answer a = ASSAY_DONE;
    if (h->adapter->supports)
        a = h->adapter->supports(h->state, &h->contract, message, sizeof message);
    return answer_object(a, message);
}

static json_t *call_run(host *h, const json_t *request)
{
    char message[MESSAGE] = "";
    if (json_integer_value(json_object_get(request, "contract")) != h->contract_id) {
        snprintf(message, sizeof message, "run before supports");
        return answer_object(ASSAY_FAILED, message);
    }
    const json_t *inputs = json_object_get(request, "inputs");
    const json_t *outputs = json_object_get(request, "outputs");
    size_t in = json_array_size(inputs), out = json_array_size(outputs);
    assay_tensor *tensors = calloc(in + out + 1, sizeof *tensors);
    if (!tensors || host_map_tensors(&fault_map, inputs, outputs, tensors)) {
        free(tensors);
        snprintf(message, sizeof message, "no memory to map the tensors");
        return answer_object(ASSAY_FAILED, message);
    }
    assay_contract contract = h->contract;
    contract.m = json_integer_value(json_object_get(request, "m"));
    contract.k = json_integer_value(json_object_get(request, "k"));
    /* An earlier call may have left another rounding mode or flush-to-zero behind. */
    fesetenv(FE_DFL_ENV);
    assay_answer a = h->adapter->run(h->state, &contract, tensors, (int64_t)in, tensors + in,
                                     (int64_t)out, message, sizeof message);
    fesetenv(FE_DFL_ENV);
    free(tensors);
    return answer_object(a, message);
}

static int serve(host *h)
{
    char *line = NULL;
    size_t size = 0;
    int done = 0;
    while (!done && getline(&line, &size, h->channel) > 0) {
        json_t *request = json_loads(line, 0, NULL);
        const char *call = text_of(request, "call");
        char message[MESSAGE] = "";
        json_t *object;
        if (!strcmp(call, "hello")) {
            object = call_hello(h, request);
        } else if (!strcmp(call, "supports")) {
            object = call_supports(h, request);
        } else if (!strcmp(call, "run")) {
            object = call_run(h, request);
        } else {
            done = 1;
            if (h->adapter->close && h->state)
                h->adapter->close(h->state);
            object = answer_object(ASSAY_DONE, message);
        }
        done |= reply(object) != 0;
        for (int i = 0; i < fault_map.count; i++)
            fault_map.regions[i].name = NULL; /* the strings were the request's */
        json_decref(request);
    }
    free(line);
    json_decref(h->contract_text);
    free(h->settings);
    return 0;
}

/* Answers hello with why there is no adapter. */
static int refuse(host *h, const char *why)
{
    char *line = NULL, message[MESSAGE];
    size_t size = 0;
    snprintf(message, sizeof message, "%s", why);
    if (getline(&line, &size, h->channel) > 0)
        reply(answer_object(ASSAY_FAILED, message));
    free(line);
    return 3;
}

int run_host_main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    host h = {.path = argv[2], .channel = fdopen(ISOLATE_CHANNEL, "r")};
    if (!h.channel)
        return 2;
    if (!strncmp(h.path, "builtin:", 8)) {
        h.adapter = run_builtin_find(h.path + 8);
        if (!h.adapter)
            return refuse(&h, "there is no built-in adapter of that name");
    } else {
        void *library = dlopen(h.path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return refuse(&h, dlerror());
        const assay_adapter *(*entry)(void);
        *(void **)&entry = dlsym(library, "assay_adapter_main");
        if (!entry)
            return refuse(&h, "the file does not export assay_adapter_main(): adapters/adapter.h");
        h.adapter = entry();
        if (!h.adapter || h.adapter->abi != ASSAY_ADAPTER_ABI || !h.adapter->run)
            return refuse(&h, "the adapter was built for another version of adapter.h (field abi), "
                              "or has no run: build it again");
    }
    watch_faults();
    return serve(&h);
}
