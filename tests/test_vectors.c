/* Vector sets: each class has cases for a recipe of each kind; the same seed gives the same bytes;
 * what a class promises is in it; files read back; broken ones are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ref/assay.h"
#include "../vectors/generate.h"
#include "../vectors/manifest.h"
#include "checks.h"

static char directory[] = "/tmp/assay-test-XXXXXX";

static assay_vector_set *make(const char *recipe, const char *class_, uint64_t seed)
{
    assay_error error = {""};
    assay_program *p = assay_catalogue_program(recipe, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    assay_vector_set *set = assay_vectors_make(p, class_, seed, &error);
    ck_assert_msg(set != NULL, "%s", error.message);
    return set;
}

static void write_set(const assay_vector_set *set, const char *name, char *path, size_t size,
                      char hex[65])
{
    assay_error error = {""};
    int64_t bytes;
    snprintf(path, size, "%s/%s", directory, name);
    ck_assert_msg(!assay_vectors_write(set, path, &error), "%s", error.message);
    ck_assert_msg(!manifest_hash_file(path, hex, &bytes, &error), "%s", error.message);
    ck_assert_int_gt(bytes, 0);
}

/* One recipe of each kind: what its blocks are, what its further inputs are. */
static const char *const kinds[] = {
    "cast.nvidia(F=e4m3, T=f32)", /* elements alone */
    "ocp.mx",                     /* one level, a power of two */
    "te.mxfp4.qat",               /* no scale among the outputs */
    "te.nvfp4.1d",                /* under the tensor's amax */
    "te.nvfp4(tile=16x1)",        /* amax given; tall blocks */
    "te.fp8.current",             /* one scale for the tensor */
    "te.fp8.block",               /* large blocks */
    "tilekernels.cast(tile=row)", /* whole rows */
    "alto.nvfp4(two=outer)",      /* blocks in blocks */
    "te.nvfp4.sr",                /* random words from coordinates */
    "te.nvfp4.decode",            /* codes under all scales */
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Every case holds a matrix that the recipe admits, and something that is judged. */
static void check_cases(const assay_vector_set *set)
{
    for (int n = 0; n < set->case_count; n++) {
        const assay_case *c = &set->cases[n];
        ck_assert(assay_program_admits(set->program, c->m, c->k, NULL));
        ck_assert_uint_gt(strlen(c->tag), 0);
        checks_add(2);
    }
}

START_TEST(each_class_has_cases)
{
    const char *recipe = kinds[_i];
    for (int k = 0; k < assay_class_count; k++) {
        const char *name = assay_classes[k].name;
        char path[512], first[65], second[65];
        assay_vector_set *set = make(recipe, name, 1);
        if (assay_classes[k].applies(set->program)) {
            ck_assert_msg(set->case_count > 0, "%s has no case of class %s", recipe, name);
            check_cases(set);
            write_set(set, "first", path, sizeof path, first);
            assay_vectors_free(set);
            set = make(recipe, name, 1);
            write_set(set, "second", path, sizeof path, second);
            ck_assert_msg(!strcmp(first, second), "%s, %s: the second run differs", recipe, name);
            checks_add(2);
        } else {
            ck_assert_int_eq(set->case_count, 0);
        }
        assay_vectors_free(set);
    }
}
END_TEST

START_TEST(seeds_differ)
{
    char path[512], first[65], second[65];
    assay_vector_set *a = make("ocp.mx", "random", 1), *b = make("ocp.mx", "random", 2);
    write_set(a, "first", path, sizeof path, first);
    write_set(b, "second", path, sizeof path, second);
    ck_assert_str_ne(first, second);
    assay_vectors_free(a);
    assay_vectors_free(b);
    checks_add(1);
}
END_TEST

/* Does a case's main input hold this code? */
static bool holds(const assay_case *c, const assay_program *p, uint64_t code)
{
    int storage = assay_type_storage(vectors_main(p)->type);
    const assay_grid *g = &c->inputs[vectors_main_index(p)];
    for (int64_t i = 0; i < g->rows * g->cols; i++)
        if (grid_get(g, storage, i) == code)
            return true;
    return false;
}

static bool set_holds(const assay_vector_set *set, uint64_t code)
{
    for (int n = 0; n < set->case_count; n++)
        if (holds(&set->cases[n], set->program, code))
            return true;
    return false;
}

START_TEST(sweep16_is_whole)
{
    static const char *const recipes[] = {"ocp.mx(T=bf16)", "te.nvfp4.1d(T=f16)",
                                          "cast.nvidia(F=e4m3, T=bf16)"};
    for (int r = 0; r < 3; r++) {
        assay_vector_set *set = make(recipes[r], "sweep16", 1);
        unsigned char *seen = calloc(1, 65536);
        const assay_grid *g = &set->cases[0].inputs[vectors_main_index(set->program)];
        for (int64_t i = 0; i < g->rows * g->cols; i++)
            seen[grid_get(g, 2, i)] = 1;
        for (int i = 0; i < 65536; i++)
            ck_assert_msg(seen[i], "%s: pattern 0x%04x is missing", recipes[r], (unsigned)i);
        free(seen);
        assay_vectors_free(set);
        checks_add(65536);
    }
}
END_TEST

/* The ties of e2m1 (0.25 .75 1.25 1.75 2.5 3.5 5) with both f32 neighbours, either sign. */
START_TEST(edges_hold_the_ties)
{
    static const uint32_t ties[] = {0x3E800000, 0x3F400000, 0x3FA00000, 0x3FE00000,
                                    0x40200000, 0x40600000, 0x40A00000};
    assay_vector_set *set = make("cast.nvidia(F=e2m1, T=f32)", "edges", 1);
    for (int i = 0; i < 7; i++)
        for (int d = -1; d <= 1; d++)
            for (uint32_t sign = 0; sign < 2; sign++) {
                uint32_t x = (ties[i] + (uint32_t)d) | sign << 31;
                ck_assert_msg(set_holds(set, x), "0x%08x is missing", x);
                checks_add(1);
            }
    assay_vectors_free(set);
}
END_TEST

/* Floor scale of OCP: code e + 125 for e2m1 at amax in [2^e, 2^(e+1)): both sides of powers of two
 * must be there as block amaxes, that is, the answers must hold neighbouring scale codes for them. */
START_TEST(edges_hold_scale_thresholds)
{
    assay_vector_set *set = make("ocp.mx(F=e2m1, T=bf16)", "edges", 1);
    for (int e = -20; e <= 20; e++) {
        uint64_t at = (uint64_t)(127 + e) << 7;
        bool both = (set_holds(set, at) || set_holds(set, at | 0x8000)) &&
                    (set_holds(set, at - 1) || set_holds(set, (at - 1) | 0x8000));
        ck_assert_msg(both, "2^%d or its lower neighbour is missing", e);
        checks_add(1);
    }
    assay_vectors_free(set);
}
END_TEST

/* Inf, -Inf, NaN and -0 at every lane of a block of 32. */
START_TEST(special_reaches_every_lane)
{
    static const uint16_t codes[] = {0x7F80, 0xFF80, 0x7FC0, 0x8000, 0x0001, 0x7F7F};
    assay_vector_set *set = make("ocp.mx(T=bf16)", "special", 1);
    for (int c = 0; c < 6; c++) {
        bool lanes[32] = {false};
        for (int n = 0; n < set->case_count; n++) {
            const assay_grid *g = &set->cases[n].inputs[0];
            for (int64_t i = 0; i < g->rows * g->cols; i++)
                if (grid_get(g, 2, i) == codes[c])
                    lanes[i % g->cols % 32] = true;
        }
        for (int lane = 0; lane < 32; lane++)
            ck_assert_msg(lanes[lane], "0x%04x never stands in lane %d", codes[c], lane);
        checks_add(32);
    }
    assay_vectors_free(set);
}
END_TEST

START_TEST(all_scale_codes_for_a_decoder)
{
    bool seen[256] = {false};
    assay_vector_set *set = make("te.nvfp4.decode", "sweep16", 1);
    const assay_program *p = set->program;
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        if (strcmp(v->name, "S"))
            continue;
        for (int n = 0; n < set->case_count; n++)
            for (int64_t j = 0; j < set->cases[n].inputs[i].rows * set->cases[n].inputs[i].cols; j++)
                seen[grid_get(&set->cases[n].inputs[i], 1, j)] = true;
    }
    for (int i = 0; i < 256; i++)
        ck_assert_msg(seen[i], "scale code 0x%02x is missing", (unsigned)i);
    assay_vectors_free(set);
    checks_add(256);
}
END_TEST

START_TEST(reads_back)
{
    char path[512], hex[65];
    assay_error error = {""};
    assay_vector_set *set = make("te.nvfp4", "special", 3);
    write_set(set, "back", path, sizeof path, hex);
    assay_vector_set *back = assay_vectors_read(path, &error);
    ck_assert_msg(back != NULL, "%s", error.message);
    ck_assert_int_eq(back->case_count, set->case_count);
    ck_assert_str_eq(back->class_, "special");
    ck_assert_uint_eq(back->seed, 3);
    for (int n = 0; n < set->case_count; n++) {
        ck_assert_str_eq(back->cases[n].tag, set->cases[n].tag);
        for (int i = 0; i < set->program->output_count; i++) {
            const assay_grid *a = &set->cases[n].outputs[i], *b = &back->cases[n].outputs[i];
            int storage = assay_type_storage(set->program->values[set->program->outputs[i]].type);
            ck_assert_mem_eq(a->data, b->data, (size_t)(a->rows * a->cols * storage));
            ck_assert_mem_eq(a->marks, b->marks, (size_t)(a->rows * a->cols));
            checks_add(2);
        }
    }
    assay_vectors_free(back);
    assay_vectors_free(set);
}
END_TEST

/* Any byte of the file's head changed: either refused with a message or read within its bounds. */
START_TEST(broken_sets)
{
    char path[512], hex[65];
    assay_error error = {""};
    assay_vector_set *set = make("te.nvfp4.1d", "shapes", 1);
    write_set(set, "broken", path, sizeof path, hex);
    assay_vectors_free(set);
    FILE *f = fopen(path, "r+b");
    int refused = 0;
    for (long at = 0; at < 700; at++) {
        fseek(f, at, SEEK_SET);
        int byte = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(byte ^ 1, f);
        fflush(f);
        set = assay_vectors_read(path, &error);
        refused += set == NULL;
        ck_assert(set || *error.message);
        assay_vectors_free(set);
        fseek(f, at, SEEK_SET);
        fputc(byte, f);
        fflush(f);
        checks_add(1);
    }
    ck_assert_int_gt(refused, 300);
    ck_assert_int_eq(truncate(path, 900), 0);
    ck_assert_ptr_null(assay_vectors_read(path, &error));
    fclose(f);
}
END_TEST

START_TEST(from_a_tensor)
{
    assay_error error = {""};
    uint16_t x[64];
    for (int i = 0; i < 64; i++)
        x[i] = (uint16_t)(0x3F80 + 3 * i);
    assay_program *p = assay_catalogue_program("te.nvfp4", &error);
    assay_vector_set *set = assay_vectors_from_tensor(p, "mine", 2, 32, x, 1, &error);
    ck_assert_msg(set != NULL, "%s", error.message);
    ck_assert_int_eq(set->case_count, 1);
    ck_assert_str_eq(set->class_, "real");
    /* Its amax is given as the further input A: 0x3F80 + 189 = 0x403D, as f32. */
    ck_assert_uint_eq(grid_get(&set->cases[0].inputs[1], 4, 0), 0x403D0000);
    assay_vectors_free(set);
    p = assay_catalogue_program("te.mxfp4.qat", &error);
    ck_assert_ptr_null(assay_vectors_from_tensor(p, "mine", 2, 31, x, 1, &error));
    ck_assert_msg(strstr(error.message, "K % 32"), "%s", error.message);
    checks_add(5);
}
END_TEST

/* Every alternative of every parameter is in some primary instance. */
START_TEST(primary_instances_cover)
{
    for (int i = 0; i < assay_catalogue_count(); i++) {
        assay_error error = {""};
        assay_recipe *r = assay_catalogue_recipe(i, &error);
        const assay_parameter *all;
        char **names;
        ck_assert_msg(r != NULL, "%s", error.message);
        int n = assay_primary_instances(r, &names), params = assay_recipe_parameters(r, &all);
        int total = assay_recipe_instance_count(r);
        ck_assert_int_gt(n, 0);
        ck_assert_int_le(n, total);
        for (int q = 0; q < params; q++)
            for (int a = 0; a < all[q].choice_count; a++) {
                char word[128];
                snprintf(word, sizeof word, "%s=%s", all[q].name, all[q].choices[a]);
                bool exists = false, covered = false;
                for (int j = 0; j < total && !exists; j++) {
                    char *name = assay_recipe_instance_name(r, j);
                    exists = strstr(name, word) != NULL;
                    free(name);
                }
                for (int j = 0; j < n; j++)
                    covered = covered || strstr(names[j], word);
                ck_assert_msg(covered || !exists, "%s: %s is in no primary instance",
                              assay_recipe_name(r), word);
                checks_add(1);
            }
        for (int j = 0; j < n; j++)
            free(names[j]);
        free(names);
    }
}
END_TEST

START_TEST(manifests)
{
    char path[512];
    assay_error error = {""};
    manifest m = {0}, back;
    manifest_row row = {.class_ = "edges", .seed = 1, .cases = 3, .bytes = 10, .kept = true,
                        .recipe = (char[]){"te.nvfp4(T=bf16, tile=1x16)"}};
    memset(row.sha256, 'a', 64);
    memset(row.identity, '0', 64);
    snprintf(path, sizeof path, "%s/MANIFEST", directory);
    ck_assert_int_eq(manifest_put(&m, &row, &error), 0);
    row.cases = 4;
    ck_assert_int_eq(manifest_put(&m, &row, &error), 0);
    ck_assert_int_eq(m.count, 1);
    ck_assert_int_eq(manifest_write(&m, path, &error), 0);
    ck_assert_msg(!manifest_read(&back, path, &error), "%s", error.message);
    ck_assert_int_eq(back.count, 1);
    ck_assert_int_eq(back.rows[0].cases, 4);
    ck_assert(back.rows[0].kept);
    ck_assert_str_eq(back.rows[0].recipe, row.recipe);
    manifest_free(&m);
    manifest_free(&back);
    FILE *f = fopen(path, "a");
    fputs("nonsense\n", f);
    fclose(f);
    ck_assert_int_ne(manifest_read(&back, path, &error), 0);
    ck_assert_msg(strstr(error.message, ":5: no line"), "%s", error.message);
    char *name = manifest_file_name("te.nvfp4(T=bf16, tile=1x16)", "edges");
    ck_assert_str_eq(name, "te.nvfp4,T=bf16,tile=1x16.edges.safetensors");
    free(name);
    checks_add(11);
}
END_TEST

static void remove_directory(void)
{
    static const char *const names[] = {"first", "second", "back", "broken", "MANIFEST"};
    char path[512];
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
}

int main(void)
{
    if (!mkdtemp(directory))
        return EXIT_FAILURE;
    Suite *suite = suite_create("vectors");
    TCase *t = tcase_create("vectors");
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, each_class_has_cases, 0, KINDS);
    tcase_add_test(t, seeds_differ);
    tcase_add_test(t, sweep16_is_whole);
    tcase_add_test(t, edges_hold_the_ties);
    tcase_add_test(t, edges_hold_scale_thresholds);
    tcase_add_test(t, special_reaches_every_lane);
    tcase_add_test(t, all_scale_codes_for_a_decoder);
    tcase_add_test(t, reads_back);
    tcase_add_test(t, broken_sets);
    tcase_add_test(t, from_a_tensor);
    tcase_add_test(t, primary_instances_cover);
    tcase_add_test(t, manifests);
    suite_add_tcase(suite, t);
    int status = checks_main(suite);
    remove_directory();
    return status;
}
