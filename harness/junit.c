/* JUnit XML of a results document: a suite for each adapter, a case for each recipe and class. */
#include <stdlib.h>
#include <string.h>

#include "results.h"

static void put_text(FILE *f, const char *text)
{
    for (; text && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", f);
        else if (c == '<')
            fputs("&lt;", f);
        else if (c == '>')
            fputs("&gt;", f);
        else if (c == '"')
            fputs("&quot;", f);
        else if (c == '\n')
            fputs("&#10;", f);
        else if (c >= 32)
            fputc(c, f);
    }
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

typedef enum { OUTCOME_OK, OUTCOME_SKIPPED, OUTCOME_FAILURE, OUTCOME_ERROR } outcome;

static outcome outcome_of(const json_t *verdict)
{
    verdict_kind kind = VERDICT_ERROR;
    verdict_find(text_of(verdict, "verdict"), &kind);
    if (kind == VERDICT_UNSUPPORTED)
        return OUTCOME_SKIPPED;
    int status = verdict_status(kind, false);
    return status == 0 ? OUTCOME_OK : status == 1 ? OUTCOME_FAILURE : OUTCOME_ERROR;
}

static void put_case(FILE *f, const json_t *v)
{
    static const char *const element[] = {"", "skipped", "failure", "error"};
    fputs("    <testcase classname=\"", f);
    put_text(f, text_of(v, "recipe"));
    fputs("\" name=\"", f);
    put_text(f, text_of(v, "class"));
    fprintf(f, "\" time=\"%.3f\"", json_number_value(json_object_get(v, "seconds")));
    outcome o = outcome_of(v);
    if (o == OUTCOME_OK) {
        fputs("/>\n", f);
        return;
    }
    fprintf(f, "><%s type=\"%s\" message=\"", element[o], text_of(v, "verdict"));
    put_text(f, text_of(v, "reason"));
    fprintf(f, "\"/></testcase>\n");
}

static void put_suite(FILE *f, const json_t *verdicts, const char *adapter)
{
    int count[4] = {0}, all = 0;
    size_t i;
    json_t *v;
    json_array_foreach(verdicts, i, v)
        if (!strcmp(text_of(v, "adapter"), adapter)) {
            count[outcome_of(v)]++;
            all++;
        }
    fputs("  <testsuite name=\"", f);
    put_text(f, adapter);
    fprintf(f, "\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n", all,
            count[OUTCOME_FAILURE], count[OUTCOME_ERROR], count[OUTCOME_SKIPPED]);
    json_array_foreach(verdicts, i, v)
        if (!strcmp(text_of(v, "adapter"), adapter))
            put_case(f, v);
    fputs("  </testsuite>\n", f);
}

int junit_write(const json_t *root, const char *path, assay_error *error)
{
    char *text = NULL;
    size_t size = 0, i;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return assay_fail(error, "%s: out of memory", path);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\">\n", f);
    json_t *a;
    json_array_foreach(json_object_get(root, "adapters"), i, a)
        put_suite(f, json_object_get(root, "verdicts"), text_of(a, "name"));
    fputs("</testsuites>\n", f);
    if (fclose(f)) {
        free(text);
        return assay_fail(error, "%s: out of memory", path);
    }
    int status = write_file_atomically(path, text, size, error);
    free(text);
    return status;
}
