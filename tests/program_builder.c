#include "program_builder.h"

#include <string.h>

#include "checks.h"

assay_type build_type(const char *word)
{
    static const char *const words[] = {[ASSAY_T_U8] = "u8",
                                        [ASSAY_T_U32] = "u32",
                                        [ASSAY_T_I32] = "i32",
                                        [ASSAY_T_U64] = "u64",
                                        [ASSAY_T_BOOL] = "bool"};
    for (int kind = ASSAY_T_U8; kind <= ASSAY_T_BOOL; kind++)
        if (!strcmp(word, words[kind]))
            return (assay_type){(assay_type_kind)kind, NULL};
    const assay_format *f = assay_format_find(word);
    ck_assert_msg(f != NULL, "there is no format %s", word);
    return (assay_type){ASSAY_T_FORMAT, f};
}

void build_start(program_builder *b)
{
    memset(b, 0, sizeof *b);
    b->program = (assay_program){.recipe = "test",
                                 .family = "test",
                                 .name = "test",
                                 .nan_code = 0x7FC00000,
                                 .values = b->values,
                                 .inputs = b->inputs,
                                 .outputs = b->outputs,
                                 .main_input = -1,
                                 .statements = b->statements};
}

static int add_value(program_builder *b, const char *name, const char *type, assay_tile tile,
                     assay_value_role role)
{
    assay_program *p = &b->program;
    ck_assert_int_lt(p->value_count, BUILDER_VALUES);
    b->values[p->value_count] = (assay_value){.name = name,
                                              .role = role,
                                              .type = build_type(type),
                                              .tile = tile,
                                              .pad = {1, 1},
                                              .feeds = -1,
                                              .statement = -1};
    return p->value_count++;
}

int build_input(program_builder *b, const char *name, const char *type, assay_tile tile)
{
    assay_program *p = &b->program;
    int value = add_value(b, name, type, tile, ASSAY_INPUT);
    p->inputs[p->input_count++] = value;
    if (p->main_input < 0 && tile.rows == 1 && tile.cols == 1)
        p->main_input = value;
    return value;
}

int build_output(program_builder *b, const char *name, const char *type, assay_tile tile)
{
    int value = add_value(b, name, type, tile, ASSAY_OUTPUT);
    b->outputs[b->program.output_count++] = value;
    return value;
}

int build_local(program_builder *b, const char *name, const char *type, assay_tile tile)
{
    return add_value(b, name, type, tile, ASSAY_LOCAL);
}

static assay_expr *add_expr(program_builder *b, assay_op op, assay_type type)
{
    assay_program *p = &b->program;
    ck_assert_int_lt(p->expr_count, BUILDER_EXPRS);
    assay_expr *e = &b->exprs[p->expr_count];
    *e = (assay_expr){.op = op, .type = type, .tile = {1, 1}, .nan_matters = true,
                      .id = p->expr_count++};
    return e;
}

assay_expr *build_value(program_builder *b, int value)
{
    assay_expr *e = add_expr(b, ASSAY_OP_VALUE, b->values[value].type);
    e->tile = b->values[value].tile;
    e->u.value = value;
    return e;
}

assay_expr *build_const(program_builder *b, const char *type, uint64_t bits)
{
    assay_expr *e = add_expr(b, ASSAY_OP_CONST, build_type(type));
    e->u.constant.bits = bits;
    e->u.constant.text = "";
    return e;
}

assay_expr *build_op(program_builder *b, assay_op op, const char *type, assay_expr *a0,
                     assay_expr *a1, assay_expr *a2)
{
    assay_expr *e = add_expr(b, op, build_type(type));
    assay_expr *args[3] = {a0, a1, a2};
    while (e->argc < 3 && args[e->argc]) {
        e->arg[e->argc] = args[e->argc];
        e->argc++;
    }
    if (op == ASSAY_OP_CAST)
        e->u.cast = assay_cast_default(e->type.format);
    return e;
}

void build_assign(program_builder *b, int value, assay_expr *e)
{
    assay_program *p = &b->program;
    ck_assert_int_lt(p->statement_count, BUILDER_STATEMENTS);
    b->values[value].statement = p->statement_count;
    b->statements[p->statement_count++] = (assay_statement){
        .kind = ASSAY_ASSIGN, .tile = b->values[value].tile, .target = value, .expr = e};
}

void eval_elements(assay_op op, const char *type, int argc, const char *const *arg_types,
                   const void *const *args, void *y, int64_t n,
                   void (*set)(assay_expr *, const void *), const void *options)
{
    static const char *const names[] = {"a", "b", "c"};
    program_builder b;
    build_start(&b);
    assay_expr *arg[3] = {NULL, NULL, NULL};
    assay_grid inputs[3] = {{0}}, output = {1, n, y, NULL};
    for (int k = 0; k < argc; k++) {
        arg[k] = build_value(&b, build_input(&b, names[k], arg_types[k], TILE_ELEMENT));
        inputs[k] = (assay_grid){1, n, (void *)(uintptr_t)args[k], NULL};
    }
    assay_expr *e = build_op(&b, op, type, arg[0], arg[1], arg[2]);
    if (set)
        set(e, options);
    build_assign(&b, build_output(&b, "y", type, TILE_ELEMENT), e);
    assay_error error;
    int status = assay_exact_eval(&b.program, 1, n, inputs, &output, &error);
    ck_assert_msg(status == 0, "%s", error.message);
}
