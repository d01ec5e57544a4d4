#include "manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char heading[] =
    "# Golden vector sets: SHA-256 of the file, identity of the recipe, class, seed, cases, bytes,\n"
    "# kept (in this directory) or made (by `assay vectors make --dir D`), recipe. `assay vectors\n"
    "# check` makes all of them again and compares.\n";

static bool is_hex(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static int parse_line(char *line, manifest_row *row)
{
    char kept[8];
    int at = 0;
    if (sscanf(line, "%64s %64s %15s %" SCNu64 " %d %" SCNd64 " %7s %n", row->sha256, row->identity,
               row->class_, &row->seed, &row->cases, &row->bytes, kept, &at) != 7 ||
        at == 0 || !line[at])
        return -1;
    if (!is_hex(row->sha256) || !is_hex(row->identity))
        return -1;
    row->kept = !strcmp(kept, "kept");
    row->recipe = line + at;
    return row->kept || !strcmp(kept, "made") ? 0 : -1;
}

int manifest_read(manifest *m, const char *path, assay_error *error)
{
    *m = (manifest){0};
    FILE *in = fopen(path, "r");
    if (!in)
        return assay_fail(error, "%s: cannot be read: %s; `assay vectors make` writes it", path,
                          strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int number = 0, failed = 0;
    while (!failed && (length = getline(&line, &capacity, in)) > 0) {
        manifest_row row;
        number++;
        bool has_nul = memchr(line, 0, (size_t)length) != NULL;
        if (line[length - 1] == '\n')
            line[length - 1] = 0;
        if (!has_nul && (*line == '#' || !*line))
            continue;
        if (has_nul || parse_line(line, &row))
            failed = assay_fail(error, "%s:%d: no line of a manifest: restore the file, or `assay "
                                "vectors make`", path, number);
        else
            failed = manifest_put(m, &row, error);
    }
    if (!failed && ferror(in)) /* a directory, a broken disk */
        failed = assay_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    if (!failed && number == 0)
        failed = assay_fail(error, "%s: is empty: restore it, or `assay vectors make`", path);
    free(line);
    fclose(in);
    if (failed)
        manifest_free(m);
    return failed;
}

static int by_name(const void *a, const void *b)
{
    const manifest_row *x = a, *y = b;
    int order = strcmp(x->recipe, y->recipe);
    if (order == 0)
        order = strcmp(x->class_, y->class_);
    return order ? order : (x->seed > y->seed) - (x->seed < y->seed);
}

int manifest_write(manifest *m, const char *path, assay_error *error)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.tmp.%ld", path, (long)getpid()) < 0)
        return assay_fail(error, "out of memory");
    if (m->count)
        qsort(m->rows, (size_t)m->count, sizeof *m->rows, by_name);
    FILE *out = fopen(temporary, "w");
    int failed = out == NULL;
    if (out) {
        fputs(heading, out);
        for (int i = 0; i < m->count; i++) {
            const manifest_row *r = &m->rows[i];
            fprintf(out, "%s %s %s %" PRIu64 " %d %" PRId64 " %s %s\n", r->sha256, r->identity,
                    r->class_, r->seed, r->cases, r->bytes, r->kept ? "kept" : "made", r->recipe);
        }
        failed = ferror(out) != 0;
        failed = fclose(out) || failed;
    }
    if (!failed)
        failed = rename(temporary, path);
    if (failed) {
        assay_fail(error, "%s: cannot be written: %s", path, strerror(errno));
        unlink(temporary);
    }
    free(temporary);
    return failed ? -1 : 0;
}

manifest_row *manifest_find(const manifest *m, const char *recipe, const char *class_, uint64_t seed)
{
    for (int i = 0; i < m->count; i++)
        if (m->rows[i].seed == seed && !strcmp(m->rows[i].recipe, recipe) &&
            !strcmp(m->rows[i].class_, class_))
            return &m->rows[i];
    return NULL;
}

int manifest_put(manifest *m, const manifest_row *row, assay_error *error)
{
    manifest_row *at = manifest_find(m, row->recipe, row->class_, row->seed);
    char *recipe = strdup(row->recipe);
    if (!at && m->count == m->capacity) {
        int capacity = m->capacity ? 2 * m->capacity : 256;
        manifest_row *grown = realloc(m->rows, (size_t)capacity * sizeof *grown);
        if (!grown) {
            free(recipe);
            return assay_fail(error, "out of memory");
        }
        m->rows = grown;
        m->capacity = capacity;
    }
    if (!recipe)
        return assay_fail(error, "out of memory");
    if (at)
        free(at->recipe);
    else
        at = &m->rows[m->count++];
    *at = *row;
    at->recipe = recipe;
    return 0;
}

void manifest_free(manifest *m)
{
    for (int i = 0; i < m->count; i++)
        free(m->rows[i].recipe);
    free(m->rows);
    *m = (manifest){0};
}

char *manifest_file_name(const char *recipe, const char *class_)
{
    size_t size = strlen(recipe) + strlen(class_) + sizeof "..safetensors";
    char *name = malloc(size), *to = name;
    if (!name)
        return NULL;
    for (const char *from = recipe; *from; from++)
        if (*from == '(')
            *to++ = ',';
        else if (*from != ')' && *from != ' ')
            *to++ = *from == '/' ? '_' : *from;
    sprintf(to, ".%s.safetensors", class_);
    return name;
}

int manifest_hash_file(const char *path, char hex[65], int64_t *bytes, assay_error *error)
{
    unsigned char buffer[1 << 16], digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    size_t n;
    FILE *in = fopen(path, "rb");
    if (!in)
        return assay_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    *bytes = 0;
    while (good && (n = fread(buffer, 1, sizeof buffer, in)) > 0) {
        good = EVP_DigestUpdate(context, buffer, n);
        *bytes += (int64_t)n;
    }
    good = good && !ferror(in) && EVP_DigestFinal_ex(context, digest, &length) && length == 32;
    EVP_MD_CTX_free(context);
    fclose(in);
    if (!good)
        return assay_fail(error, "%s: cannot be read", path);
    for (int i = 0; i < 32; i++)
        sprintf(hex + 2 * i, "%02x", digest[i]);
    return 0;
}
