/* Options of casts and of named arithmetic; the casts themselves. */
#include <string.h>

#include "recipe_check.h"

static bool word_option(checker *c, check_options *o, token t, unsigned *bit,
                        const assay_format *f)
{
    assay_mode mode;
    assay_overflow overflow;
    if (assay_mode_find(t.text, &mode) && mode != ASSAY_STOCHASTIC) {
        *bit = OPTION_MODE;
        o->cast.mode = mode;
    } else if (assay_overflow_find(t.text, &overflow)) {
        *bit = OPTION_OVERFLOW;
        o->cast.overflow = overflow;
    } else if (!strcmp(t.text, "nan_sign")) {
        *bit = OPTION_NAN_SIGN;
        o->cast.nan_sign = true;
    } else if (!strcmp(t.text, "ftz")) {
        if (!assay_format_has_subnormals(f))
            check_fail(c, t, "%s has no subnormals: ftz means nothing", f->name);
        *bit = OPTION_FTZ;
        o->cast.ftz = true;
    } else {
        return false;
    }
    return true;
}

static void nan_option(checker *c, check_options *o, token t, const assay_format *f)
{
    mpq_t q;
    mpq_init(q);
    recipe_number_parse(q, t.text);
    bool fits = mpz_cmp_ui(mpq_denref(q), 1) == 0 &&
                mpz_sizeinbase(mpq_numref(q), 2) <= (size_t)assay_format_width(f);
    o->cast.nan_code = mpz_get_ui(mpq_numref(q));
    mpq_clear(q);
    if (!fits)
        check_fail(c, t, "expected a code of %s behind nan", f->name);
}

static void stochastic_option(checker *c, check_options *o, const syn *s)
{
    if (s->argc != 2)
        check_fail(c, s->at, "expected stochastic(r, n)");
    o->cast.mode = ASSAY_STOCHASTIC;
    o->random = check_expr(c, s->arg[0]);
    check_settle(c, o->random, check_kind_type(ASSAY_T_U32));
    if (o->random->type.kind != ASSAY_T_U32 && o->random->type.kind != ASSAY_T_U64)
        check_need_conversion(c, check_place(o->random), o->random->type,
                              check_kind_type(ASSAY_T_U32));
    o->cast.random_bits =
        (uint8_t)check_constant(c, s->arg[1], 1, 63, "a number of random bits, 1 to 63");
}

check_options check_read_options(checker *c, const syn *call, int first, unsigned allowed,
                                 const assay_format *f)
{
    check_options o = {.cast = assay_cast_default(f)};
    if (!strcmp(f->name, "f32"))
        o.cast.nan_code = c->p->nan_code;
    for (int i = first; i < call->argc; i++) {
        const syn *s = call->arg[i];
        unsigned bit = 0;
        if (s->kind == SYN_NAN) {
            bit = OPTION_NAN;
            nan_option(c, &o, s->at, f);
        } else if (s->kind == SYN_CALL && !strcmp(s->at.text, "stochastic")) {
            bit = OPTION_STOCHASTIC;
            if (allowed & bit)
                stochastic_option(c, &o, s);
        } else if (s->kind == SYN_NAME) {
            token t = check_substitute(c, s->at);
            t.line = s->at.line;
            t.column = s->at.column;
            word_option(c, &o, t, &bit, f);
        }
        unsigned clash = bit & (OPTION_MODE | OPTION_STOCHASTIC) ? OPTION_MODE | OPTION_STOCHASTIC
                                                                  : bit;
        if (!(bit & allowed) || (o.seen & clash))
            check_fail(c, s->at, o.seen & clash ? "expected one option of each kind"
                                                : "expected an option of %s",
                       call->at.text);
        o.seen |= bit;
    }
    return o;
}

assay_expr *check_cast(checker *c, const syn *call, const assay_format *f)
{
    if (call->argc < 1)
        check_fail(c, call->at, "expected %s(v, options)", call->at.text);
    assay_expr *v = check_expr(c, call->arg[0]);
    check_options o = check_read_options(c, call, 1,
                                         OPTION_MODE | OPTION_STOCHASTIC | OPTION_OVERFLOW |
                                             OPTION_NAN | OPTION_NAN_SIGN | OPTION_FTZ,
                                         f);
    if (check_is_literal(v)) {
        if (v->op == ASSAY_OP_CONST && !o.random)
            return check_literal_cast(c, call->at, v, f, &o.cast);
        check_settle(c, v, check_f32());
    }
    if (!check_is_float(v->type) && !check_is_integer(v->type))
        check_fail(c, call->at, "cannot round %s", check_type_name(v->type));
    assay_expr *arg[2] = {v, o.random};
    assay_expr *e = check_node(c, ASSAY_OP_CAST, check_format_type(f), call->at, o.random ? 2 : 1,
                               arg);
    e->u.cast = o.cast;
    return e;
}
