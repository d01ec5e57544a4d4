/* A random recipe, a statement at a time: every operation, every kind of tiling, marks, `use`. */
#include "random_generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static random_value *add_value(random_generator *g, const char *prefix, assay_type t, assay_tile tile)
{
    random_value *v = &g->values[g->count];
    memset(v, 0, sizeof *v);
    snprintf(v->name, sizeof v->name, "%s%d", prefix, g->count++);
    v->type = t;
    v->tile = tile;
    v->pad = (assay_tile){1, 1};
    return v;
}

static assay_tile block(random_generator *g)
{
    static const int rows[] = {1, 1, 1, 1, 2, 3, 4, 8, 16, 32};
    static const int cols[] = {1, 2, 3, 4, 8, 16, 16, 32, 32, 5};
    return (assay_tile){rows[random_below(g->r, 10)], cols[random_below(g->r, 10)]};
}

static void choose_tiles(random_generator *g)
{
    static const assay_tile named[] = {{1, 1}, {0, 0}, {1, 0}, {0, 1}};
    for (int i = 0; i < TILES; i++)
        g->tiles[i] = i > 0 && random_chance(g->r, 50) ? named[random_below(g->r, 4)] : block(g);
    g->tiles[0] = (assay_tile){1, 1};
}

static void add_inputs(random_generator *g)
{
    static const assay_tile element = {1, 1};
    random_value *x = add_value(g, "x", random_any_format(g), element);
    x->is_input = true;
    if (random_chance(g->r, 20))
        x->pad = block(g);
    for (int64_t n = random_below(g->r, 4); n > 0; n--) {
        random_value *v = add_value(g, "s", random_chance(g->r, 60) ? random_any_format(g) : random_any_type(g),
                             g->tiles[random_below(g->r, TILES)]);
        v->is_input = true;
    }
    if (random_chance(g->r, 45)) {
        random_value *v = add_value(g, "w", random_any_format(g), element);
        v->is_input = v->is_table = true;
        v->table = 2 << random_below(g->r, 4);
    }
}

static void put_tile(random_text *t, assay_tile tile, bool section)
{
    if (tile.rows == 1 && tile.cols == 1)
        random_put(t, "element");
    else if (tile.rows == 0 && tile.cols == 0)
        random_put(t, "tensor");
    else if (tile.cols == 0)
        random_put(t, "row");
    else if (tile.rows == 0)
        random_put(t, "column");
    else
        random_put(t, "%s%lldx%lld", section ? "block " : "", (long long)tile.rows, (long long)tile.cols);
}

/* A statement; some become outputs at once, some are marked. */
static void statement(random_generator *g)
{
    assay_type t = random_any_type(g);
    char name[16];
    snprintf(name, sizeof name, "v%d", g->count);
    random_put(&g->body, "  %s = ", name);
    random_expression(g, t, 1 + (int)random_below(g->r, 3));
    random_put(&g->body, "\n");
    random_value *v = add_value(g, "v", t, g->here);
    if (random_chance(g->r, 15)) {
        assay_tile here = g->here;
        random_put(&g->body, "  unspecified %s when ", name);
        random_expression(g, random_kind(ASSAY_T_BOOL), 2);
        random_put(&g->body, "\n");
        g->here = here;
    }
    v->is_output = random_chance(g->r, 40);
    snprintf(v->declared, sizeof v->declared, "%s", assay_type_name(t));
    if (random_is_float(t) && random_chance(g->r, 10)) {
        snprintf(v->declared, sizeof v->declared, random_is(t, "f64") || random_chance(g->r, 30) ? "f64" : "f32");
        if (v->is_output)
            v->type = random_format(v->declared);
    } else if ((t.kind == ASSAY_T_U32 || t.kind == ASSAY_T_BOOL) && random_chance(g->r, 20)) {
        snprintf(v->declared, sizeof v->declared, "u8");
        if (v->is_output)
            v->type = random_kind(ASSAY_T_U8);
    }
}

static const char *const used_names[] = {"random.block", "random.scaled"};
static const char *const used_texts[] = {
    "recipe random.block\nsource \"a test\"\nparam F = e4m3 | e2m1\nin y : f32\nout Q : F\n"
    "out S : e8m0 per 1x8\nblock 1x8:\n  S = e8m0(amax(y) / F.max, up)\nelement:\n  Q = F(y / S)\n",
    "recipe random.scaled\nsource \"a test\"\nin y : bf16\nin g : f32 per tensor\nout Z : bf16\n"
    "out C : u32 per row\nelement:\n  Z = bf16(y * g)\n  unspecified Z when isnan(y)\nrow:\n"
    "  C = count(Z > 1)\n",
};

assay_recipe *random_program_finder(void *context, const char *name)
{
    static assay_recipe *parsed[2];
    (void)context;
    for (int i = 0; i < 2; i++) {
        if (strcmp(name, used_names[i]))
            continue;
        if (!parsed[i])
            assay_recipe_parse(used_texts[i], strlen(used_texts[i]), used_names[i], &parsed[i], NULL,
                               NULL);
        return parsed[i];
    }
    return NULL;
}

static void use_block(random_generator *g)
{
    g->here = (assay_tile){1, 1};
    bool scaled = random_chance(g->r, 50);
    int n = g->count;
    if (scaled) {
        random_put(&g->body, "use random.scaled as q%d : y = ", n);
        random_expression(g, random_format("bf16"), 2);
        random_put(&g->body, ", g = ");
        g->here = (assay_tile){0, 0};
        random_expression(g, random_format("f32"), 2);
    } else {
        random_put(&g->body, "use random.block(F=%s) as q%d : y = ", random_chance(g->r, 50) ? "e4m3" : "e2m1",
            n);
        random_expression(g, random_format("f32"), 2);
    }
    random_put(&g->body, "\n");
    random_value *v = add_value(g, "q", scaled ? random_format("bf16") : random_format("e8m0"),
                         scaled ? (assay_tile){1, 1} : (assay_tile){1, 8});
    snprintf(v->name, sizeof v->name, "q%d.%s", n, scaled ? "Z" : "S");
}

static void section(random_generator *g)
{
    g->here = g->tiles[random_below(g->r, TILES)];
    put_tile(&g->body, g->here, true);
    random_put(&g->body, ":\n");
    for (int64_t n = 1 + random_below(g->r, 3); n > 0 && g->count < VALUES - 2; n--)
        statement(g);
}

static void declare(const random_generator *g, random_text *head)
{
    for (int i = 0; i < g->count; i++) {
        const random_value *v = &g->values[i];
        if (v->name[0] == 'q' || (v->is_input && !v->is_used))
            continue;
        if (!v->is_input && !v->is_output && v->is_used)
            continue;
        random_put(head, "%s %s : %s", v->is_input ? "in" : "out", v->name,
            v->is_input || !v->is_output ? assay_type_name(v->type) : v->declared);
        if (v->is_table) {
            random_put(head, " table %lldx%lld", (long long)v->table, (long long)v->table);
        } else if (v->tile.rows != 1 || v->tile.cols != 1) {
            random_put(head, " per ");
            put_tile(head, v->tile, false);
        }
        if (v->pad.rows != 1 || v->pad.cols != 1)
            random_put(head, " pad %lldx%lld", (long long)v->pad.rows, (long long)v->pad.cols);
        random_put(head, "\n");
    }
}

void random_program(random_source *r, char *to)
{
    random_generator *g = calloc(1, sizeof *g);
    random_text *head = calloc(1, sizeof *head);
    if (!g || !head)
        abort();
    g->r = r;
    g->approx = random_chance(r, 40) ? 2 : 0;
    choose_tiles(g);
    add_inputs(g);
    if (random_chance(r, 20))
        use_block(g);
    for (int64_t n = 2 + random_below(r, 5); n > 0; n--)
        section(g);
    random_put(head, "recipe random.program\nsource \"a test\"\n");
    if (random_chance(r, 30))
        random_put(head, "nan 0x7FFFFFFF\n");
    declare(g, head);
    random_put(head, "%s", g->body.at);
    memcpy(to, head->at, RANDOM_TEXT);
    free(g);
    free(head);
}
