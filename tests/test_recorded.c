/* Both evaluators against what real kernels answered (vectors/recorded/README.md): one table, a row
 * for each recorded file. Every code and every scale is compared; only what a recipe declares open
 * (marks, any nan, any zero) is not. */
#include "recorded.h"

/* A value of the recipe and where the file has it: "INPUT/tensor", or "tensor" after a '='. */
typedef struct {
    const char *value, *tensor;
} binding;

typedef struct {
    const char *file;
    const char *recipe;          /* %s: the type of the input, "bf16" ... */
    binding outputs[VALUES];
    binding given[VALUES];       /* inputs that the file holds; the others come from `inputs` */
    uint64_t seed, offset;       /* inputs of these names */
    const char *only;            /* tensors of this type alone, NULL: of every type */
    bool odd_columns;            /* outputs with a known fault in even columns */
} recorded_row;

static const recorded_row rows[] = {
    {.file = "te.current_e4m3_fp32",
     .recipe = "te.fp8.current(F=e4m3, T=%s, po2=no, eps=0)",
     .outputs = {{"Q", "Q"}, {"A", "A"}, {"S", "S"}, {"I", "SI"}}},
    {.file = "te.fp8block_128x128_e4m3_fp32",
     .recipe = "te.fp8.block(F=e4m3, T=%s, tile=128x128, po2=no, eps=0)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "te.fp8block_1x128_e4m3_pow2_row",
     .recipe = "te.fp8.block(F=e4m3, T=%s, tile=1x128, po2=yes, eps=0)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "te.mxfp8_partial_row",
     .recipe = "te.mxfp8.partial(tile=1x32)",
     .outputs = {{"Q", "Q"}, {"S", "S"}, {"A", "A"}}},
    {.file = "te.nvfp4_sr_1d_f32_row",
     .recipe = "te.nvfp4.sr(kernel=generic, T=%s, tile=1x16)",
     .outputs = {{"Q", "Q"}, {"S", "S"}, {"A", "A"}},
     .seed = 0x123456789abcdef,
     .offset = 7},
    {.file = "te.nvfp4_sr_1d_f32_row", /* amax and scales do not depend on the rounding */
     .recipe = "te.nvfp4.1d(T=%s)",
     .outputs = {{"S", "S"}, {"A", "A"}}},
    {.file = "te.nvfp4_sr_1d_f32_row",
     .recipe = "te.nvfp4(T=%s, tile=1x16, math=exact)",
     .outputs = {{"S", "S"}},
     .given = {{"A", "A"}}},
    {.file = "te_fork.mxfp4_qat_ieee",
     .recipe = "te.mxfp4.qat(T=%s)",
     .outputs = {{"y", "Q"}}},
    {.file = "tilekernels.per_token_e4m3_1x128_pow2",
     .recipe = "tilekernels.cast(F=e4m3, T=%s, tile=1x128, scale=pow2, place=plain)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "tilekernels.per_token_e2m1_1x32_pow2",
     .recipe = "tilekernels.cast(F=e2m1, T=%s, tile=1x32, scale=pow2, place=plain)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "tilekernels.per_channel_transpose_e4m3_32x1_pow2",
     .recipe = "tilekernels.cast(F=e4m3, T=%s, tile=32x1, scale=pow2, place=transposed)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "alto.nvfp4_none_1d",
     .recipe = "alto.nvfp4(G=e4m3, T=%s, two=none, tile=1x16, device=nvidia)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "alto.nvfp4_outer_2d_outer2d_64",
     .recipe = "alto.nvfp4(G=e4m3, T=%s, two=outer, size=64x64, tile=16x16, device=nvidia)",
     .outputs = {{"Q", "Q"}, {"S", "S"}, {"A", "A"}}},
    {.file = "alto.amdfp4_outer_1d_outer1d_128",
     .recipe = "alto.nvfp4(G=ue5m3, T=%s, two=outer, size=1x128, tile=1x16, device=nvidia)",
     .outputs = {{"Q", "Q"}, {"S", "S"}, {"A", "A"}}},
    {.file = "alto.mxfp4_1d",
     .recipe = "alto.mxfp4(T=%s, tile=1x32, device=nvidia)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "torchao.mx_e2m1_rceil",
     .recipe = "torchao.mx(F=e2m1, T=%s, rule=rceil, version=v0.18.0, device=cuda)",
     .outputs = {{"Q", "Q"}, {"S", "S"}}},
    {.file = "torchao.nvfp4_two_level",
     .recipe = "torchao.nvfp4(T=%s, levels=2, device=cuda)",
     .outputs = {{"Q", "Q"}, {"S", "S"}, {"A", "A"}}},
    /* dequantization: what a decoder sees is in the file, too */
    {.file = "alto.mxfp4_1d",
     .recipe = "alto.mxfp4.decode(T=%s, tile=1x32, device=nvidia, D=%s)",
     .outputs = {{"y", "D"}},
     .given = {{"Q", "Q"}, {"S", "S"}},
     .only = "f32"},
    {.file = "alto.mxfp4_1d",
     .recipe = "alto.mxfp4.decode(T=%s, tile=1x32, device=nvidia, D=%s)",
     .outputs = {{"y", "D"}},
     .given = {{"Q", "Q"}, {"S", "S"}},
     .only = "bf16",
     .odd_columns = true},
    {.file = "alto.nvfp4_none_1d",
     .recipe = "alto.nvfp4.decode(G=e4m3, T=%s, two=none, tile=1x16, device=nvidia, D=%s)",
     .outputs = {{"y", "D"}},
     .given = {{"Q", "Q"}, {"S", "S"}},
     .only = "f32"},
    {.file = "alto.nvfp4_none_1d",
     .recipe = "alto.nvfp4.decode(G=e4m3, T=%s, two=none, tile=1x16, device=nvidia, D=%s)",
     .outputs = {{"y", "D"}},
     .given = {{"Q", "Q"}, {"S", "S"}},
     .only = "bf16",
     .odd_columns = true},
};

static const safetensors_tensor *of_input(const safetensors_file *f, const char *input,
                                          const char *tensor)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", input, tensor);
    return safetensors_find(f, name);
}

static const char *bound(const binding *b, const char *value)
{
    for (int i = 0; i < VALUES && b[i].value; i++)
        if (!strcmp(b[i].value, value))
            return b[i].tensor;
    return NULL;
}

/* The input grids of one recorded tensor; aligned copies, for the file's own may be misaligned. */
static void fill_inputs(const recorded_row *row, const assay_program *p,
                        const safetensors_file *file, const safetensors_tensor *x, int64_t m,
                        int64_t k, assay_grid *grids)
{
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        grids[i] = new_grid(v, m, k);
        int64_t size = grids[i].rows * grids[i].cols * assay_type_storage(v->type);
        const char *tensor = bound(row->given, v->name);
        const safetensors_tensor *t = tensor ? of_input(file, x->name, tensor) : x;
        if (!strcmp(v->name, "seed"))
            memcpy(grids[i].data, &row->seed, sizeof row->seed);
        else if (!strcmp(v->name, "offset"))
            memcpy(grids[i].data, &row->offset, sizeof row->offset);
        else {
            ck_assert_msg(t && t->size == size, "%s: input %s does not fit", p->name, v->name);
            memcpy(grids[i].data, t->data, (size_t)size);
        }
    }
}

/* One recorded tensor: evaluate, compare every output that the row names. */
static void check_tensor(const recorded_row *row, const assay_program *p,
                         const safetensors_file *file, const safetensors_tensor *x, tally *t)
{
    int64_t m = x->shape[0], k = x->shape[1];
    assay_grid inputs[VALUES], outputs[VALUES];
    ck_assert_int_le(p->input_count, VALUES);
    ck_assert_int_le(p->output_count, VALUES);
    fill_inputs(row, p, file, x, m, k, inputs);
    for (int e = 0; e < ENGINES; e++) {
        for (int i = 0; i < p->output_count; i++)
            outputs[i] = new_grid(&p->values[p->outputs[i]], m, k);
        assay_error error = {0};
        int rc = engines[e].eval(p, m, k, inputs, outputs, &error);
        ck_assert_msg(rc == 0, "%s, %s: %s", p->name, engines[e].name, error.message);
        char what[256];
        snprintf(what, sizeof what, "%s, %s, %s", row->file, x->name, engines[e].name);
        t->what = what;
        for (int i = 0; i < p->output_count; i++) {
            const assay_value *v = &p->values[p->outputs[i]];
            const char *tensor = bound(row->outputs, v->name);
            const safetensors_tensor *r = tensor ? of_input(file, x->name, tensor) : NULL;
            if (!r)
                continue;
            ck_assert_int_eq(r->size, outputs[i].rows * outputs[i].cols *
                                          assay_type_storage(v->type));
            compare(v, &outputs[i], r->data, row->odd_columns, t);
        }
        free_grids(outputs, p->output_count);
    }
    free_grids(inputs, p->input_count);
}

START_TEST(recorded_rows)
{
    const recorded_row *row = &rows[_i];
    safetensors_file *file = open_recorded(row->file), *inputs = open_recorded("inputs");
    tally t = {0};
    int tensors = 0;
    for (int i = 0; i < safetensors_count(inputs); i++) {
        const safetensors_tensor *x = safetensors_at(inputs, i);
        const char *type = strchr(x->name, '.') + 1;
        if (!of_input(file, x->name, row->outputs[0].tensor) ||
            (row->only && strcmp(row->only, type)))
            continue;
        char instance[256];
        snprintf(instance, sizeof instance, row->recipe, type, type);
        assay_program *p = program(instance);
        check_tensor(row, p, file, x, &t);
        assay_program_free(p);
        tensors++;
    }
    printf("%-52s %2d tensors, %8" PRIu64 " compared, %6" PRIu64 " open, %" PRIu64 " different\n",
           row->file, tensors, t.compared, t.open, t.different);
    checks_add(t.compared);
    ck_assert_int_gt(tensors, 0);
    ck_assert_uint_eq(t.different, 0);
    safetensors_close(file);
    safetensors_close(inputs);
}
END_TEST

/* te.nvfp4_dequant: all scale codes under ten amaxes, to f32 and to bf16. */
START_TEST(nvfp4_dequantize)
{
    static const char *const types[] = {"f32", "bf16"}, *const results[] = {"F", "B"};
    safetensors_file *file = open_recorded("te.nvfp4_dequant");
    const int64_t m = 256, k = 512;
    tally t = {0};
    for (int d = 0; d < 2; d++) {
        char instance[128];
        snprintf(instance, sizeof instance, "te.nvfp4.decode(T=bf16, tile=1x16, math=exact, D=%s)",
                 types[d]);
        assay_program *p = program(instance);
        for (int a = 0; a < 10; a++) {
            char amax[16], result[16];
            snprintf(amax, sizeof amax, "AMAX_%d", a);
            snprintf(result, sizeof result, "%s_%d", results[d], a);
            assay_grid inputs[VALUES], output;
            for (int i = 0; i < p->input_count; i++) {
                const assay_value *v = &p->values[p->inputs[i]];
                const char *name = !strcmp(v->name, "A") ? amax : v->name;
                const safetensors_tensor *r = need(file, name);
                inputs[i] = new_grid(v, m, k);
                memcpy(inputs[i].data, r->data, (size_t)r->size);
            }
            for (int e = 0; e < ENGINES; e++) {
                const assay_value *v = &p->values[p->outputs[0]];
                output = new_grid(v, m, k);
                assay_error error = {0};
                ck_assert_msg(engines[e].eval(p, m, k, inputs, &output, &error) == 0, "%s",
                              error.message);
                t.what = engines[e].name;
                compare(v, &output, need(file, result)->data, false, &t);
                free_grids(&output, 1);
            }
            free_grids(inputs, p->input_count);
        }
        assay_program_free(p);
    }
    printf("%-52s %8" PRIu64 " compared, %" PRIu64 " different\n", "te.nvfp4_dequant", t.compared,
           t.different);
    checks_add(t.compared);
    ck_assert_uint_eq(t.different, 0);
    safetensors_close(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorded answers");
    TCase *c = tcase_create("kernels");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, recorded_rows, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(c, nvfp4_dequantize);
    suite_add_tcase(suite, c);
    return checks_main(suite);
}
