/* Canonical text of a whole program, and its identities (LANGUAGE.md section 15). */
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_check.h"

static void print_place(assay_text *t, const assay_value *v)
{
    char shape[48];
    if (v->is_table)
        assay_text_add(t, " table %" PRId64 "x%" PRId64, v->table_rows, v->table_cols);
    else if (!assay_tile_equal(v->tile, (assay_tile){1, 1}))
        assay_text_add(t, " per %s", recipe_tile_text(v->tile, shape));
    if (!assay_tile_equal(v->pad, (assay_tile){1, 1}))
        assay_text_add(t, " pad %s", recipe_tile_text(v->pad, shape));
}

static void print_declarations(assay_text *t, const assay_program *p)
{
    if (p->nan_code != 0x7FC00000)
        assay_text_add(t, "nan %" PRIu32 "\n", p->nan_code);
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        assay_text_add(t, "in %s : %s", v->name, assay_type_name(v->type));
        print_place(t, v);
        assay_text_add(t, "\n");
    }
    for (int i = 0; i < p->output_count; i++) {
        const assay_value *v = &p->values[p->outputs[i]];
        assay_text_add(t, "out %s : %s", v->name, assay_type_name(v->type));
        print_place(t, v);
        assay_text_add(t, "%s%s", v->any_nan ? " any nan" : "", v->any_zero ? " any zero" : "");
        if (v->feeds >= 0)
            assay_text_add(t, " feeds %s", p->values[v->feeds].name);
        assay_text_add(t, "\n");
    }
    for (int i = 0; i < p->require_count; i++) {
        char *text = assay_expr_print(p, p->requires[i]);
        assay_text_add(t, "require %s\n", text);
        free(text);
    }
}

static void print_section(assay_text *t, assay_tile tile)
{
    char shape[48];
    const char *word = recipe_tile_text(tile, shape);
    assay_text_add(t, "%s%s:\n", word == shape ? "block " : "", word);
}

static void print_statements(assay_text *t, const assay_program *p)
{
    for (int i = 0; i < p->statement_count; i++) {
        const assay_statement *s = &p->statements[i];
        if (i == 0 || !assay_tile_equal(s->tile, p->statements[i - 1].tile))
            print_section(t, s->tile);
        char *text = assay_statement_print(p, s);
        assay_text_add(t, "  %s\n", text);
        free(text);
    }
}

static void print_step(assay_text *t, const assay_layout_step *s)
{
    static const char *const words[] = {
        [ASSAY_LAYOUT_TRANSPOSE] = "transpose",        [ASSAY_LAYOUT_REPLICATE] = "replicate ",
        [ASSAY_LAYOUT_PAD] = "pad ",                   [ASSAY_LAYOUT_SWIZZLE_128X4] = "swizzle 128x4",
        [ASSAY_LAYOUT_SWIZZLE_8X4] = "swizzle 8x4",    [ASSAY_LAYOUT_GROUP] = "group ",
        [ASSAY_LAYOUT_PACK_LOW] = "pack low",          [ASSAY_LAYOUT_PACK_HIGH] = "pack high",
        [ASSAY_LAYOUT_PACK_HALVES] = "pack halves ",   [ASSAY_LAYOUT_PACK_E5M6] = "pack e5m6",
        [ASSAY_LAYOUT_RECORD] = "record "};
    assay_text_add(t, "%s", words[s->op]);
    if (s->op == ASSAY_LAYOUT_REPLICATE || s->op == ASSAY_LAYOUT_PAD ||
        s->op == ASSAY_LAYOUT_RECORD)
        assay_text_add(t, "%" PRId64 "x%" PRId64, s->a, s->b);
    if (s->op == ASSAY_LAYOUT_GROUP || s->op == ASSAY_LAYOUT_PACK_HALVES)
        assay_text_add(t, "%" PRId64, s->a);
    if (s->op == ASSAY_LAYOUT_PAD && s->fill == ASSAY_FILL_VALUE)
        assay_text_add(t, " with %" PRIu64, s->value);
    else if (s->op == ASSAY_LAYOUT_PAD)
        assay_text_add(t, s->fill == ASSAY_FILL_ANY ? " any" : " keep");
}

static void print_layout(assay_text *t, const assay_program *p, const assay_layout *l)
{
    assay_text_add(t, "layout ");
    for (int i = 0; i < l->value_count; i++)
        assay_text_add(t, "%s%s", i ? ", " : "", p->values[l->values[i]].name);
    for (int i = 0; i < l->step_count; i++) {
        assay_text_add(t, i ? ", " : " : ");
        print_step(t, &l->steps[i]);
    }
    for (int i = 0; i < l->record_count; i++) {
        assay_text_add(t, ", %s", p->values[l->record[i]].name);
        if (!l->member_packed[i])
            continue;
        assay_text_add(t, " ");
        print_step(t, &l->member_step[i]);
    }
    assay_text_add(t, "\n");
}

char *assay_program_print(const assay_program *p)
{
    assay_text t = {0};
    assay_text_add(&t, "recipe %s\n", p->name);
    print_declarations(&t, p);
    print_statements(&t, p);
    for (int i = 0; i < p->layout_count; i++)
        print_layout(&t, p, &p->layouts[i]);
    return assay_text_take(&t);
}

static void hash(const char *text, size_t length, char hex[65])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)text, length, digest);
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void assay_program_identify(assay_program *p)
{
    char *text = assay_program_print(p);
    size_t length = strlen(text);
    program_memory *memory = p->arena;
    if (memory) {
        p->canonical = assay_arena_copy(memory->arena, text, length);
        free(text);
    } else { /* made by hand: the maker frees it */
        free(p->canonical);
        p->canonical = text;
    }
    const char *numerics = strchr(p->canonical, '\n') + 1;
    const char *layout = strstr(p->canonical, "\nlayout ");
    layout = layout ? layout + 1 : p->canonical + length;
    hash(numerics, (size_t)(layout - numerics), p->sha256);
    hash(layout, (size_t)(p->canonical + length - layout), p->layout_sha256);
}
