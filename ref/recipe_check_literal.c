/* Literals: exact rationals that take a type from their context and are rounded once. */
#include <stdlib.h>
#include <string.h>

#include "recipe_check.h"

assay_expr *check_literal(checker *c, token at, mpq_srcptr q, bool negative_zero)
{
    mpq_t magnitude;
    mpq_init(magnitude);
    mpq_abs(magnitude, q);
    const char *text = recipe_number_text(c->arena, magnitude);
    mpq_clear(magnitude);
    if (mpq_sgn(q) < 0 || negative_zero)
        text = assay_arena_format(c->arena, "-%s", text);
    int index = c->literal_count;
    literal *l = ARENA_PUSH(c->arena, c->literals, c->literal_count);
    l->q = assay_arena_alloc(c->arena, sizeof(mpq_t));
    l->negative_zero = negative_zero;
    mpq_init(l->q);
    mpq_set(l->q, q);
    assay_expr *e = check_node(c, ASSAY_OP_CONST, (assay_type){(assay_type_kind)T_LITERAL, NULL}, at, 0, NULL);
    e->u.constant.bits = (uint64_t)index;
    e->u.constant.text = text;
    return e;
}

assay_expr *check_number(checker *c, token at)
{
    mpq_t q;
    mpq_init(q);
    recipe_number_parse(q, at.text);
    assay_expr *e = check_literal(c, at, q, false);
    mpq_clear(q);
    return e;
}

assay_expr *check_negated(checker *c, token at, const assay_expr *e)
{
    literal *l = &c->literals[e->u.constant.bits];
    mpq_t q;
    mpq_init(q);
    mpq_neg(q, l->q);
    assay_expr *n = check_literal(c, at, q, mpq_sgn(q) == 0 && !l->negative_zero);
    mpq_clear(q);
    return n;
}

/* ---- attributes of formats ---- */

static void set_power(mpq_ptr q, uint64_t significand, int exponent)
{
    mpz_set_ui(mpq_numref(q), (unsigned long)significand);
    mpz_set_ui(mpq_denref(q), 1);
    if (exponent >= 0)
        mpq_mul_2exp(q, q, (mp_bitcnt_t)exponent);
    else
        mpq_div_2exp(q, q, (mp_bitcnt_t)-exponent);
}

static void set_code(mpq_ptr q, const assay_format *f, uint64_t code)
{
    assay_parts v = assay_decode(f, code);
    set_power(q, v.significand, v.exponent);
}

static bool set_attribute(mpq_ptr q, const assay_format *f, const char *name)
{
    if (!strcmp(name, "max"))
        set_code(q, f, assay_format_max_code(f));
    else if (!strcmp(name, "least") && f->kind == ASSAY_KIND_POWER)
        set_code(q, f, 0);
    else if (!strcmp(name, "least"))
        set_code(q, f, assay_ordinal_code(f, 1));
    else if (!strcmp(name, "tiny"))
        set_power(q, 1, f->kind == ASSAY_KIND_FLOAT ? assay_format_emin(f) : -f->bias);
    else if (!strcmp(name, "emax"))
        mpq_set_si(q, assay_format_emax(f), 1);
    else if (!strcmp(name, "mant"))
        mpq_set_si(q, f->mantissa_bits, 1);
    else if (!strcmp(name, "bias"))
        mpq_set_si(q, f->bias, 1);
    else if (!strcmp(name, "width"))
        mpq_set_si(q, assay_format_width(f), 1);
    else
        return false;
    return true;
}

assay_expr *check_attribute(checker *c, token name)
{
    const char *dot = strchr(name.text, '.');
    if (!dot)
        return NULL;
    token head = name;
    head.text = assay_arena_copy(c->arena, name.text, (size_t)(dot - name.text));
    if (recipe_is_param(c->scope->r, head.text))
        head = check_substitute(c, head);
    const assay_format *f = head.kind == TOKEN_NAME ? assay_format_find(head.text) : NULL;
    if (!f)
        return NULL;
    mpq_t q;
    mpq_init(q);
    bool known = set_attribute(q, f, dot + 1);
    assay_expr *e = known ? check_literal(c, name, q, false) : NULL;
    mpq_clear(q);
    if (!known)
        check_fail(c, name, "%s has no attribute %s", f->name, dot + 1);
    return e;
}

/* ---- bits ---- */

static uint64_t integer_bits(checker *c, const assay_expr *e, const literal *l,
                             assay_type_kind kind)
{
    static const int widths[] = {[ASSAY_T_U8] = 8, [ASSAY_T_U32] = 32, [ASSAY_T_I32] = 31,
                                 [ASSAY_T_U64] = 64};
    const char *text = e->u.constant.text;
    if (mpz_cmp_ui(mpq_denref(l->q), 1))
        check_fail(c, check_place(e), "%s is not an integer", text);
    bool negative = mpq_sgn(l->q) < 0;
    mpz_t limit;
    mpz_init_set_ui(limit, 1);
    mpz_mul_2exp(limit, limit, (mp_bitcnt_t)widths[kind]);
    int above = mpz_cmpabs(mpq_numref(l->q), limit);
    mpz_clear(limit);
    if (negative ? kind != ASSAY_T_I32 || above > 0 : above >= 0)
        check_fail(c, check_place(e), "%s is not an integer of %s", text,
                   check_type_name(check_kind_type(kind)));
    uint64_t v = mpz_get_ui(mpq_numref(l->q)); /* of the magnitude */
    return negative ? (uint32_t)-v : v;
}

static uint64_t format_bits(const literal *l, const assay_format *f, const assay_cast *cast,
                            bool *inexact)
{
    assay_exact x;
    assay_exact_init(&x);
    assay_exact_set_q(&x, l->q);
    if (l->negative_zero) {
        x.negative = true;
        mpfr_setsign(x.v, x.v, 1, MPFR_RNDZ);
    }
    assay_rounded r = assay_round(f, &x, cast, 0);
    assay_exact_clear(&x);
    *inexact = r.inexact || r.overflow;
    return r.code;
}

uint64_t check_literal_bits(checker *c, const assay_expr *e, assay_type type, bool exact)
{
    const literal *l = &c->literals[e->u.constant.bits];
    if (type.kind != ASSAY_T_FORMAT)
        return integer_bits(c, e, l, type.kind);
    assay_cast cast = assay_cast_default(type.format);
    bool inexact;
    uint64_t bits = format_bits(l, type.format, &cast, &inexact);
    if (exact && inexact)
        check_fail(c, check_place(e), "cannot round %s", e->u.constant.text);
    return bits;
}

/* A literal under a cast: rounded once from the exact rational, kept as a constant of the target
 * format that prints as the cast it was. */
assay_expr *check_literal_cast(checker *c, token at, const assay_expr *e, const assay_format *f,
                               const assay_cast *cast)
{
    bool inexact;
    uint64_t bits = format_bits(&c->literals[e->u.constant.bits], f, cast, &inexact);
    assay_text t = {0};
    assay_text_add(&t, "%s(%s", f->name, e->u.constant.text);
    recipe_print_cast_options(&t, f, cast, c->p->nan_code, NULL);
    assay_text_add(&t, ")");
    assay_expr *n = check_node(c, ASSAY_OP_CONST, check_format_type(f), at, 0, NULL);
    n->u.constant.bits = bits;
    n->u.constant.text = check_keep(c, t.s);
    free(t.s);
    return n;
}

uint64_t check_constant(checker *c, const syn *e, uint64_t least, uint64_t most, const char *what)
{
    token t = e->at;
    if (e->kind == SYN_NAME)
        t = check_substitute(c, t);
    assay_expr *number = e->kind == SYN_NAME ? check_attribute(c, e->at) : NULL;
    if (!number && e->argc == 0 && t.kind == TOKEN_NUMBER && e->kind != SYN_NAN)
        number = check_number(c, t);
    if (!number)
        check_fail(c, e->at, "expected %s", what);
    uint64_t v = check_literal_bits(c, number, check_kind_type(ASSAY_T_U64), true);
    if (v < least || v > most)
        check_fail(c, e->at, "expected %s", what);
    return v;
}
