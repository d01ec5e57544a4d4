/* `assay run` as a whole, through the program: every row of the table of faulty adapters gets its
 * verdict and its exit status, and the next adapter of the run is judged all the same; results are
 * valid whatever happens. The expected verdicts are written by hand in adapters/faulty/README.md. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

static const char table[] = "adapters/faulty/README.md";

/* The program beside this test: BUILD/tests/test_harness -> BUILD/assay. */
static const char *program(char *buffer, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", buffer, size - 1);
    buffer[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 2 && strrchr(buffer, '/'); i++)
        *strrchr(buffer, '/') = '\0';
    strncat(buffer, "/assay", size - strlen(buffer) - 1);
    return buffer;
}

typedef struct {
    int status;
    json_t *json;    /* standard output, if it is JSON */
    char text[8192]; /* the beginning of standard error */
} outcome;

/* Runs `assay ARGUMENTS` by the shell; standard output is parsed if `json`. */
static outcome assay(bool json, const char *format, ...) __attribute__((format(printf, 2, 3)));
static outcome assay(bool json, const char *format, ...)
{
    char path[PATH_MAX], arguments[2048], command[PATH_MAX + 4096], errors[64];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(errors, sizeof errors, "/tmp/assay-test-%d.txt", (int)getpid());
    snprintf(command, sizeof command, "'%s' %s 2>%s </dev/null", program(path, sizeof path), arguments,
             errors);
    outcome o = {.status = -1};
    FILE *f = popen(command, "r");
    ck_assert_msg(f != NULL, "%s", command);
    if (json)
        o.json = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);
    while (fread(command, 1, sizeof command, f) > 0)
        ;
    int status = pclose(f);
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    f = fopen(errors, "r");
    if (f) {
        o.text[fread(o.text, 1, sizeof o.text - 1, f)] = '\0';
        fclose(f);
    }
    unlink(errors);
    return o;
}

/* The verdict of the first entry of this adapter, "" if there is none. */
static const json_t *verdict_of(const json_t *results, const char *adapter)
{
    size_t i;
    json_t *v;
    json_array_foreach(json_object_get(results, "verdicts"), i, v)
        if (!strcmp(json_string_value(json_object_get(v, "adapter")), adapter))
            return v;
    return NULL;
}

static const char *word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ---- the table ---- */

typedef struct {
    char name[64], class_[32], recipe[160], vectors[32], verdict[32];
    int status;
} row;

static bool parse_row(const char *line, row *r)
{
    return sscanf(line, "| %63[a-z0-9_] | %31[A-Za-z0-9] | %*[^|]| %*[^`]`%159[^`]` | %31s | %31s | %d |",
                  r->name, r->class_, r->recipe, r->vectors, r->verdict, &r->status) == 6;
}

static int read_table(row *rows, int most)
{
    FILE *f = fopen(table, "r");
    ck_assert_msg(f != NULL, "%s: %s (tests run in the repository's root)", table, strerror(errno));
    char line[1024];
    int n = 0;
    while (n < most && fgets(line, sizeof line, f))
        n += parse_row(line, &rows[n]);
    fclose(f);
    return n;
}

static void check_row(const row *r)
{
    char adapter[80];
    snprintf(adapter, sizeof adapter, "faulty:%s", r->name);
    outcome o = assay(true, "run --adapter %s,model --recipe '%s' --class %s --time-limit %d "
                      "--memory-limit 200 --json", adapter, r->recipe, r->vectors,
                      strcmp(r->verdict, "hang") ? 20 : 1);
    ck_assert_msg(o.json != NULL, "%s: no JSON: %s", r->name, o.text);
    const json_t *v = verdict_of(o.json, adapter), *next = verdict_of(o.json, "model");
    ck_assert_msg(v != NULL, "%s: no verdict: %s", r->name, o.text);
    ck_assert_msg(!strcmp(word(v, "verdict"), r->verdict), "%s: the verdict is %s (%s), must be %s",
                  r->name, word(v, "verdict"), word(v, "reason"), r->verdict);
    ck_assert_msg(o.status == r->status, "%s: exit status %d, must be %d", r->name, o.status,
                  r->status);
    ck_assert_msg(next && !strcmp(word(next, "verdict"), "pass"),
                  "%s: the next adapter's verdict is '%s'", r->name, word(next, "verdict"));
    if (!strcmp(r->verdict, "fail")) {
        const json_t *first = json_object_get(v, "first");
        ck_assert_msg(json_array_size(json_object_get(first, "steps")) > 0, "%s: not explained",
                      r->name);
        ck_assert_msg(json_array_size(json_object_get(first, "inputs")) > 0, "%s: no inputs", r->name);
    }
    checks_add(4);
    json_decref(o.json);
}

static row rows[160];

START_TEST(every_row_of_the_table)
{
    int n = read_table(rows, 160);
    ck_assert_int_gt(n, 85);
    for (int i = _i; i < n; i += 8)
        check_row(&rows[i]);
}
END_TEST

START_TEST(every_public_class_has_a_row)
{
    int n = read_table(rows, 160);
    for (int k = 1; k <= 21; k++) {
        char name[8];
        bool found = false;
        snprintf(name, sizeof name, "K%02d", k);
        for (int i = 0; i < n; i++)
            found |= !strcmp(rows[i].class_, name);
        ck_assert_msg(found, "%s has no faulty adapter", name);
        checks_add(1);
    }
}
END_TEST

/* ---- adapters that are not there ---- */

START_TEST(missing_and_unopenable_adapters)
{
    static const char recipe[] = "--recipe 'cast.ieee(F=e4m3, T=f32)' --class edges";
    outcome o = assay(true, "run --adapter nobody,model %s --json", recipe);
    ck_assert_int_eq(o.status, 3);
    ck_assert_ptr_nonnull(strstr(o.text, "nobody.so"));
    ck_assert_str_eq(word(verdict_of(o.json, "model"), "verdict"), "pass");
    json_decref(o.json);
    static const char *const names[] = {"open_fails", "open_aborts", "no_such_fault"};
    for (int i = 0; i < 3; i++) {
        o = assay(true, "run --adapter faulty:%s,model %s --json", names[i], recipe);
        ck_assert_int_eq(o.status, 3);
        ck_assert_ptr_nonnull(strstr(o.text, "cannot be opened"));
        ck_assert_str_eq(word(verdict_of(o.json, "model"), "verdict"), "pass");
        json_decref(o.json);
    }
    /* Nothing executed is a failure, not a pass. */
    o = assay(true, "run --adapter faulty:right --recipe ocp.mx --class edges --json");
    ck_assert_int_eq(o.status, 3);
    ck_assert_ptr_nonnull(strstr(o.text, "not one case"));
    json_decref(o.json);
    checks_add(13);
}
END_TEST

START_TEST(wrong_usage)
{
    static const char *const bad[] = {"run", "run --adapter", "run --adapter model --nonsense",
                                      "run --adapter model --class nonsense",
                                      "run --adapter model --shard 3/2",
                                      "run --adapter model --sweep pair",
                                      "run --adapter model --repeat 0", "run --adapter model extra",
                                      "run --adapter model --recipe 'no.such(*)'"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        outcome o = assay(false, "%s", bad[i]);
        ck_assert_msg(o.status == 2 && !strncmp(o.text, "assay: ", 7), "%s: %d %s", bad[i], o.status,
                      o.text);
    }
    outcome o = assay(false, "run --adapter model --recipe 'cast.ieee(F=e4m3, T=f32)' --class edges -o /dev/full");
    ck_assert_int_eq(o.status, 4);
    o = assay(false, "run --adapter model --recipe cast.ieee --input /nonexistent.safetensors");
    ck_assert_int_eq(o.status, 4);
    checks_add(11);
}
END_TEST

/* ---- built-in adapters ---- */

START_TEST(recipe_as_adapter)
{
    outcome o = assay(true, "run --adapter 'recipe:cast.ieee(F=e4m3, T=f32, round=away)' "
                      "--recipe 'cast.ieee(F=e4m3, T=f32)' --class edges --json");
    ck_assert_int_eq(o.status, 1);
    const json_t *v = json_array_get(json_object_get(o.json, "verdicts"), 0), *text;
    size_t i;
    bool named = false;
    json_array_foreach(json_object_get(v, "diagnosis"), i, text)
        named |= strstr(json_string_value(text), "round=away") != NULL;
    ck_assert_msg(named, "the other recipe is not named");
    json_decref(o.json);
    checks_add(2);
}
END_TEST

START_TEST(command_as_adapter)
{
    /* One that fails, and one that answers without the output. */
    outcome o = assay(true, "run --adapter \"command:'exit 3 # {in} {out}'\" "
                      "--recipe 'cast.ieee(F=e4m3, T=f32)' --class edges --json");
    ck_assert_int_eq(o.status, 3);
    ck_assert_ptr_nonnull(strstr(word(json_array_get(json_object_get(o.json, "verdicts"), 0), "reason"),
                                 "exited with status 3"));
    json_decref(o.json);
    o = assay(true, "run --adapter \"command:cp {in} {out}\" "
              "--recipe 'cast.ieee(F=e4m3, T=f32)' --class edges --json");
    ck_assert_int_eq(o.status, 3);
    const json_t *v = json_array_get(json_object_get(o.json, "verdicts"), 0);
    ck_assert_ptr_nonnull(strstr(word(v, "reason"), "wrote no tensor Q"));
    json_decref(o.json);
    checks_add(3);
}
END_TEST

START_TEST(recorded_answers_as_adapter)
{
    static const char recipe[] = "'cast.ieee(F=e4m3, T=bf16)'";
    char folder[64], command[256];
    snprintf(folder, sizeof folder, "/tmp/assay-test-%d.vectors", (int)getpid());
    ck_assert_int_eq(mkdir(folder, 0777), 0);
    outcome o = assay(false, "vectors make --dir %s --recipe %s --class edges", folder, recipe);
    ck_assert_msg(o.status == 0, "%s", o.text);
    o = assay(true, "run --adapter \"recorded:'$(ls %s/*.safetensors)'\" --recipe %s --class edges --json",
              folder, recipe);
    ck_assert_msg(o.status == 0, "%s", o.text);
    ck_assert_int_gt(json_integer_value(json_object_get(json_object_get(o.json, "counts"), "pass")), 0);
    json_decref(o.json);
    /* Answers to other questions: nothing can be executed. */
    o = assay(true, "run --adapter \"recorded:'$(ls %s/*.safetensors)'\" --recipe %s --class heavy --json",
              folder, recipe);
    ck_assert_int_eq(o.status, 3);
    json_decref(o.json);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    checks_add(4);
}
END_TEST

/* ---- results ---- */

START_TEST(interrupted_run_leaves_valid_results)
{
    char path[PATH_MAX], out[64];
    snprintf(out, sizeof out, "/tmp/assay-test-%d.json", (int)getpid());
    program(path, sizeof path);
    pid_t pid = fork();
    if (pid == 0) {
        (void)!freopen("/dev/null", "w", stdout);
        (void)!freopen("/dev/null", "w", stderr);
        execl(path, path, "run", "--adapter", "model:exact", "--recipe", "cast.ieee(*)", "-o", out,
              (char *)NULL);
        _exit(127);
    }
    /* As soon as something is judged and written, in any case after two minutes. */
    for (int i = 0; i < 1200; i++) {
        usleep(100000);
        json_t *so_far = json_load_file(out, 0, NULL);
        bool any = json_array_size(json_object_get(so_far, "verdicts")) > 0;
        json_decref(so_far);
        if (any)
            break;
    }
    kill(pid, SIGINT);
    int status;
    waitpid(pid, &status, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %x", status);
    json_t *results = json_load_file(out, 0, NULL);
    ck_assert_ptr_nonnull(results);
    ck_assert(json_is_false(json_object_get(results, "complete")));
    ck_assert_uint_gt(json_array_size(json_object_get(results, "verdicts")), 0);
    json_decref(results);
    unlink(out);
    checks_add(4);
}
END_TEST

START_TEST(expectations)
{
    char out[64], other[64];
    snprintf(out, sizeof out, "/tmp/assay-test-%d.json", (int)getpid());
    snprintf(other, sizeof other, "/tmp/assay-test-%d.b.json", (int)getpid());
    static const char run[] = "run --adapter %s --recipe 'cast.ieee(F=e2m1, T=f32)' %s";
    char text[512];
    snprintf(text, sizeof text, "--class edges,random -o %s --junit %s", out, other);
    outcome o = assay(false, run, "faulty:ties_up,model", text);
    ck_assert_int_eq(o.status, 1);
    FILE *f = fopen(other, "r");
    ck_assert_ptr_nonnull(f);
    char xml[4096];
    xml[fread(xml, 1, sizeof xml - 1, f)] = '\0';
    fclose(f);
    ck_assert_ptr_nonnull(strstr(xml, "<testsuite name=\"faulty:ties_up\" tests=\"2\" failures=\"1\""));
    snprintf(text, sizeof text, "--class edges --expect %s --json", out);
    o = assay(true, run, "faulty:ties_up,model", text);
    ck_assert_str_eq(word(verdict_of(o.json, "model"), "compared_with"), "SAME");
    ck_assert_ptr_nonnull(strstr(o.text, "MISSING"));
    json_decref(o.json);
    unlink(out);
    unlink(other);
    checks_add(5);
}
END_TEST

START_TEST(shards_are_a_partition)
{
    int64_t whole = 0, parts = 0;
    for (int i = 0; i <= 3; i++) {
        char shard[32] = "";
        if (i)
            snprintf(shard, sizeof shard, "--shard %d/3", i);
        outcome o = assay(true, "run --adapter model --recipe 'cast.ieee(F=e4m3, T=f32)' %s --json",
                          shard);
        ck_assert_int_eq(o.status, 0);
        int64_t n = json_integer_value(json_object_get(json_object_get(o.json, "counts"), "elements"));
        *(i ? &parts : &whole) += n;
        json_decref(o.json);
    }
    ck_assert_int_gt(whole, 0);
    ck_assert_int_eq(whole, parts);
    checks_add(5);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("harness");
    TCase *t = tcase_create("faulty adapters");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, every_row_of_the_table, 0, 8);
    tcase_add_test(t, every_public_class_has_a_row);
    suite_add_tcase(s, t);
    t = tcase_create("run");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, missing_and_unopenable_adapters);
    tcase_add_test(t, wrong_usage);
    tcase_add_test(t, recipe_as_adapter);
    tcase_add_test(t, command_as_adapter);
    tcase_add_test(t, recorded_answers_as_adapter);
    tcase_add_test(t, interrupted_run_leaves_valid_results);
    tcase_add_test(t, expectations);
    tcase_add_test(t, shards_are_a_partition);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return checks_main(suite());
}
