/* safetensors: files of each broken kind are refused with a message; good ones read back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../vectors/safetensors.h"
#include "checks.h"

/* A file from its header's text and the size of its data (bytes 0, 1, 2, ...). */
static uint8_t *file_of(const char *header, size_t data, size_t *size)
{
    size_t n = strlen(header);
    uint8_t *bytes = malloc(8 + n + data);
    ck_assert_ptr_nonnull(bytes);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(n >> 8 * i);
    memcpy(bytes + 8, header, n);
    for (size_t i = 0; i < data; i++)
        bytes[8 + n + i] = (uint8_t)i;
    *size = 8 + n + data;
    return bytes;
}

static void refuses(const char *header, size_t data, const char *word)
{
    size_t size;
    assay_error error = {""};
    uint8_t *bytes = file_of(header, data, &size);
    safetensors_file *f = safetensors_open_memory(bytes, size, "bad.safetensors", &error);
    ck_assert_msg(!f, "accepted: %s", header);
    ck_assert_msg(!strncmp(error.message, "bad.safetensors: ", 17), "%s", error.message);
    ck_assert_msg(strstr(error.message, word), "'%s' is not in: %s", word, error.message);
    free(bytes);
    checks_add(3);
}

#define T(name, dtype, shape, from, to) \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to "]}"

START_TEST(broken_headers)
{
    refuses("", 0, "JSON");
    refuses("[]", 0, "JSON");
    refuses("nonsense", 0, "JSON");
    refuses("{\"a\":", 0, "JSON");
    refuses("{} trailing", 0, "JSON");
    refuses("{\"a\":3}", 0, "dtype");
    refuses("{\"a\":{}}", 0, "dtype");
    refuses("{\"a\":{\"dtype\":\"F32\"}}", 0, "shape");
    refuses("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets");
    refuses("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "data_offsets");
    refuses("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}}", 4, "data_offsets");
    refuses("{" T("a", "F32", "[1]", 0, 4.0) "}", 4, "data_offsets");
    refuses("{" T("a", "F33", "[1]", 0, 4) "}", 4, "F33");
    refuses("{" T("a", "F32", "[-1]", 0, 4) "}", 4, "dimension 0");
    refuses("{" T("a", "F32", "[1.5]", 0, 4) "}", 4, "dimension 0");
    refuses("{" T("a", "F32", "[1]", -4, 0) "}", 4, "bytes -4 to 0");
    refuses("{" T("a", "F32", "[1]", 4, 0) "}", 4, "bytes 4 to 0");
    refuses("{" T("a", "F32", "[1]", 0, 8) "}", 8, "need 4");
    refuses("{" T("a", "F32", "[2]", 0, 8) "}", 4, "truncated");
    refuses("{" T("a", "F4", "[3]", 0, 1) "}", 1, "whole number of bytes");
    refuses("{" T("a", "F6_E2M3", "[2]", 0, 1) "}", 1, "whole number of bytes");
    refuses("{" T("a", "U8", "[1,1,1,1,1,1,1,1,1]", 0, 1) "}", 1, "9 dimensions");
    refuses("{\"__metadata__\":[]}", 0, "__metadata__");
    refuses("{\"__metadata__\":{\"a\":1}}", 0, "__metadata__");
}
END_TEST

START_TEST(broken_shapes_overflow)
{
    refuses("{" T("a", "F32", "[4294967296,4294967296]", 0, 0) "}", 0, "below 2^63");
    refuses("{" T("a", "U8", "[9223372036854775807]", 0, 8) "}", 8, "below 2^63");
    refuses("{" T("a", "U8", "[9223372036854775808]", 0, 8) "}", 8, "JSON");
    refuses("{" T("a", "U8", "[1]", 0, 9223372036854775807) "}", 1, "truncated");
}
END_TEST

START_TEST(broken_tilings)
{
    refuses("{" T("a", "U8", "[2]", 0, 2) "," T("b", "U8", "[2]", 1, 3) "}", 3, "overlapping");
    refuses("{" T("a", "U8", "[2]", 0, 2) "," T("b", "U8", "[2]", 3, 5) "}", 5, "gap");
    refuses("{" T("a", "U8", "[2]", 1, 3) "}", 3, "gap");
    refuses("{" T("a", "U8", "[2]", 0, 2) "}", 3, "follow the last tensor");
    refuses("{}", 1, "follow the last tensor");
    refuses("{" T("a", "U8", "[2]", 0, 2) "," T("a", "U8", "[2]", 2, 4) "}", 4, "twice");
    refuses("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
            "twice");
}
END_TEST

START_TEST(broken_lengths)
{
    static const struct {
        uint64_t claim;
        size_t size;
        const char *word;
    } cases[] = {{0, 0, "too few"}, {0, 7, "too few"}, {0, 8, "JSON"}, {1, 8, "truncated"},
                 {(uint64_t)1 << 60, 64, "1152921504606846976"}, {UINT64_MAX, 64, "truncated"},
                 {100, 64, "truncated"}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        uint8_t *bytes = calloc(1, cases[c].size + 1);
        for (size_t i = 0; i < 8 && i < cases[c].size; i++)
            bytes[i] = (uint8_t)(cases[c].claim >> 8 * i);
        assay_error error = {""};
        ck_assert_ptr_null(safetensors_open_memory(bytes, cases[c].size, "x", &error));
        ck_assert_msg(strstr(error.message, cases[c].word), "%s", error.message);
        free(bytes);
        checks_add(2);
    }
}
END_TEST

/* Every prefix of a good file, and every file with one byte of its header changed, is refused or
 * still reads within its bounds. */
START_TEST(mangled)
{
    const char *header = "{\"__metadata__\":{\"k\":\"v\"}," T("a", "F16", "[2,3]", 0, 12) ","
                         T("b", "U8", "[4]", 12, 16) "}";
    size_t size;
    uint8_t *bytes = file_of(header, 16, &size);
    for (size_t cut = 0; cut < size; cut++) {
        assay_error error = {""};
        uint8_t *copy = malloc(cut + 1);
        memcpy(copy, bytes, cut);
        ck_assert_ptr_null(safetensors_open_memory(copy, cut, "cut", &error));
        ck_assert(*error.message);
        free(copy);
        checks_add(1);
    }
    for (size_t at = 0; at < size; at++)
        for (int change = 1; change < 256; change = change * 2 + 1) {
            assay_error error = {""};
            bytes[at] ^= (uint8_t)change;
            safetensors_file *f = safetensors_open_memory(bytes, size, "mangled", &error);
            for (int i = 0; f && i < safetensors_count(f); i++) {
                const safetensors_tensor *t = safetensors_at(f, i);
                ck_assert((const uint8_t *)t->data + t->size <= bytes + size);
            }
            safetensors_close(f);
            bytes[at] ^= (uint8_t)change;
            checks_add(1);
        }
    free(bytes);
}
END_TEST

/* What Python's safetensors writes for {"w": f32 2x2, "b": empty u8, "s": rank 0}: the layout is
 * derived by hand from the format's description; descending dtype, then name; padded by spaces. */
START_TEST(good_file)
{
    const char *header = "{\"__metadata__\":{\"format\":\"pt\"}," T("s", "F32", "[]", 0, 4) ","
                         T("w", "F32", "[2,2]", 4, 20) "," T("b", "U8", "[0,7]", 20, 20) "}   ";
    size_t size;
    assay_error error = {""};
    uint8_t *bytes = file_of(header, 20, &size);
    safetensors_file *f = safetensors_open_memory(bytes, size, "good", &error);
    ck_assert_msg(f != NULL, "%s", error.message);
    ck_assert_int_eq(safetensors_count(f), 3);
    const safetensors_tensor *w = safetensors_find(f, "w"), *s = safetensors_find(f, "s");
    ck_assert_int_eq(w->rank, 2);
    ck_assert_int_eq(w->shape[1], 2);
    ck_assert_str_eq(w->dtype, "F32");
    ck_assert_int_eq(((const uint8_t *)w->data)[0], 4);
    ck_assert_int_eq(s->rank, 0);
    ck_assert_int_eq(s->size, 4);
    ck_assert_ptr_eq(safetensors_at(f, 0), s);
    ck_assert_int_eq(safetensors_find(f, "b")->size, 0);
    ck_assert_ptr_null(safetensors_find(f, "__metadata__"));
    ck_assert_ptr_null(safetensors_find(f, "absent"));
    ck_assert_ptr_null(safetensors_at(f, 3));
    ck_assert_str_eq(safetensors_metadata(f, "format"), "pt");
    ck_assert_int_eq(safetensors_metadata_count(f), 1);
    safetensors_close(f);
    free(bytes);
    checks_add(13);
}
END_TEST

static char directory[] = "/tmp/assay-test-XXXXXX";

static void path_in(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", directory, name);
}

/* Writes three tensors out of order and in pieces; the bytes are those of the format. */
START_TEST(written_bytes)
{
    char path[128];
    path_in(path, sizeof path, "out.safetensors");
    assay_error error = {""};
    safetensors_writer *w = safetensors_writer_new(path, &error);
    ck_assert_int_eq(safetensors_writer_metadata(w, "m", "1"), 0);
    int64_t two[] = {2}, three[] = {1, 3};
    int u8 = safetensors_writer_declare(w, "u", "U8", 2, three);
    int f32 = safetensors_writer_declare(w, "z", "F32", 1, two);
    int rank0 = safetensors_writer_declare(w, "a", "F32", 0, NULL);
    ck_assert_int_eq(safetensors_writer_declare(w, "x", "F9", 1, two), -1);
    ck_assert_int_eq(safetensors_writer_create(w, &error), 0);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(safetensors_writer_put(w, u8, 1, "BC", 2, &error), 0);
    ck_assert_int_eq(safetensors_writer_put(w, f32, 0, "zzzzZZZZ", 8, &error), 0);
    ck_assert_int_eq(safetensors_writer_put(w, u8, 0, "A", 1, &error), 0);
    ck_assert_int_eq(safetensors_writer_put(w, rank0, 0, "aaaa", 4, &error), 0);
    ck_assert_int_ne(safetensors_writer_put(w, u8, 2, "xx", 2, &error), 0);
    ck_assert_int_ne(safetensors_writer_put(w, 7, 0, "x", 1, &error), 0);
    ck_assert_int_eq(safetensors_writer_finish(w, &error), 0);
    const char *header = "{\"__metadata__\":{\"m\":\"1\"}," T("a", "F32", "[]", 0, 4) ","
                         T("z", "F32", "[2]", 4, 12) "," T("u", "U8", "[1,3]", 12, 15) "}";
    char expected[512] = {0}, got[512];
    size_t length = (strlen(header) + 7) / 8 * 8;
    expected[0] = (char)length;
    memset(expected + 8, ' ', length);
    memcpy(expected + 8, header, strlen(header));
    memcpy(expected + 8 + length, "aaaazzzzZZZZABC", 15);
    FILE *in = fopen(path, "rb");
    size_t n = fread(got, 1, sizeof got, in);
    fclose(in);
    ck_assert_uint_eq(n, 8 + length + 15);
    ck_assert_mem_eq(got, expected, n);
    safetensors_file *f = safetensors_open(path, &error);
    ck_assert_msg(f != NULL, "%s", error.message);
    ck_assert_mem_eq(safetensors_find(f, "u")->data, "ABC", 3);
    safetensors_close(f);
    checks_add(14);
}
END_TEST

START_TEST(nothing_half_written)
{
    char path[128];
    path_in(path, sizeof path, "aborted.safetensors");
    assay_error error = {""};
    int64_t two[] = {2};
    safetensors_writer *w = safetensors_writer_new(path, &error);
    safetensors_writer_declare(w, "z", "F32", 1, two);
    ck_assert_int_eq(safetensors_writer_create(w, &error), 0);
    safetensors_writer_abort(w);
    ck_assert_int_eq(access(path, F_OK), -1);
    w = safetensors_writer_new("/nonexistent-directory/x.safetensors", &error);
    ck_assert_int_ne(safetensors_writer_create(w, &error), 0);
    ck_assert_msg(strstr(error.message, "No such file"), "%s", error.message);
    safetensors_writer_abort(w);
    w = safetensors_writer_new(path, &error);
    safetensors_writer_declare(w, "z", "F32", 1, two);
    safetensors_writer_declare(w, "z", "U8", 1, two);
    ck_assert_int_ne(safetensors_writer_create(w, &error), 0);
    ck_assert_msg(strstr(error.message, "one name"), "%s", error.message);
    safetensors_writer_abort(w);
    checks_add(6);
}
END_TEST

START_TEST(full_disk)
{
    assay_error error = {""};
    int64_t two[] = {2};
    safetensors_writer *w = safetensors_writer_new("/dev/full", &error);
    safetensors_writer_declare(w, "z", "F32", 1, two);
    ck_assert_int_ne(safetensors_writer_create(w, &error), 0);
    ck_assert_msg(strstr(error.message, "/dev/full: the disk is full"), "%s", error.message);
    safetensors_writer_abort(w);
    struct stat st;
    ck_assert_int_eq(stat("/dev/full", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
    checks_add(3);
}
END_TEST

START_TEST(missing_files)
{
    assay_error error = {""};
    ck_assert_ptr_null(safetensors_open("/nonexistent.safetensors", &error));
    ck_assert_msg(strstr(error.message, "No such file"), "%s", error.message);
    ck_assert_ptr_null(safetensors_open("/tmp", &error));
    ck_assert_msg(strstr(error.message, "regular"), "%s", error.message);
    ck_assert_ptr_null(safetensors_open("/dev/null", &error));
    checks_add(4);
}
END_TEST

static void remove_directory(void)
{
    char path[128];
    path_in(path, sizeof path, "out.safetensors");
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    if (!mkdtemp(directory))
        return EXIT_FAILURE;
    Suite *suite = suite_create("safetensors");
    TCase *reading = tcase_create("reading"), *writing = tcase_create("writing");
    tcase_add_test(reading, broken_headers);
    tcase_add_test(reading, broken_shapes_overflow);
    tcase_add_test(reading, broken_tilings);
    tcase_add_test(reading, broken_lengths);
    tcase_add_test(reading, mangled);
    tcase_add_test(reading, good_file);
    tcase_add_test(reading, missing_files);
    tcase_add_test(writing, written_bytes);
    tcase_add_test(writing, nothing_half_written);
    tcase_add_test(writing, full_disk);
    suite_add_tcase(suite, reading);
    suite_add_tcase(suite, writing);
    int status = checks_main(suite);
    remove_directory();
    return status;
}
