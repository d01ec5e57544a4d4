// NVIDIA's headers behind adapter.h: recipes to rows of the conversion table.
#include "../adapter.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "conversions.h"

namespace {

bool same(const char *a, const char *b)
{
    return a && b && std::strcmp(a, b) == 0;
}

__attribute__((format(printf, 4, 5))) assay_answer say(assay_answer answer, char *message,
                                                       size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, size, format, arguments);
    va_end(arguments);
    return answer;
}

// What a contract asks for, in the columns of the table.
struct wanted {
    const char *from, *to, *round, *over;
    bool ieee; // only rows that equal the IEEE contract will do
};

// A saturating format without NaN and infinity leaves `over` nothing to decide: one row serves all.
bool no_specials(const char *format)
{
    return same(format, "e2m1") || same(format, "e2m3") || same(format, "e3m2");
}

// false: not a recipe of ours. Where a recipe leaves a setting out, it has but one meaning.
bool read_contract(const assay_contract *c, wanted *w)
{
    const char *f = assay_contract_setting(c, "F"), *t = assay_contract_setting(c, "T");
    const char *round = assay_contract_setting(c, "round");
    const char *over = assay_contract_setting(c, "over");
    if (same(c->recipe, "cast.nvidia"))
        *w = {t, f, round ? round : "even", over ? over : "sat", false};
    else if (same(c->recipe, "cast.nvidia.decode"))
        *w = {f, assay_contract_setting(c, "D"), "exact", "exact", false};
    else if (same(c->recipe, "cast.ieee"))
        *w = {t, f, round, no_specials(f ? f : "") ? "sat" : over, true};
    else if (same(c->recipe, "cast.e8m0"))
        *w = {t, "e8m0", round, over, true};
    else
        return false;
    return true;
}

const conversion *find(const wanted &w)
{
    for (size_t i = 0; i < conversion_count; i++) {
        const conversion *c = &conversions[i];
        if (same(c->from, w.from) && same(c->to, w.to) && same(c->round, w.round) &&
            same(c->over, w.over) && (c->ieee || !w.ieee))
            return c;
    }
    return nullptr;
}

// The state is one flag: option "pairs" takes the two-at-a-time forms and no others.
assay_answer open_headers(void **state, const char *options, char *message, size_t size)
{
    bool pairs = same(options, "pairs");
    if (*options && !pairs)
        return say(ASSAY_FAILED, message, size,
                   "unknown option '%s': say cuda_headers or cuda_headers:pairs", options);
    *state = new bool(pairs);
    return ASSAY_DONE;
}

void close_headers(void *state)
{
    delete static_cast<bool *>(state);
}

void describe(void *state, assay_description *d)
{
    std::snprintf(d->library, sizeof d->library, "NVIDIA CUDA headers%s",
                  *static_cast<bool *>(state) ? ", pair forms" : "");
    std::snprintf(d->version, sizeof d->version, "%s", headers_version());
    std::snprintf(d->device, sizeof d->device, "host");
}

assay_answer choose(bool pairs, const assay_contract *c, const conversion **row, char *message,
                    size_t size)
{
    wanted w;
    if (!read_contract(c, &w))
        return say(ASSAY_UNSUPPORTED, message, size, "not a contract of NVIDIA's headers");
    *row = find(w);
    if (!*row) {
        w.ieee = false;
        return say(ASSAY_UNSUPPORTED, message, size, find(w)
                       ? "the header's conversion has other codes for NaN or overflow (cast.nvidia)"
                       : "the headers have no such conversion");
    }
    if (pairs && !(*row)->two)
        return say(ASSAY_UNSUPPORTED, message, size, "the headers have no pair form of this one");
    return ASSAY_DONE;
}

assay_answer supports(void *state, const assay_contract *c, char *message, size_t size)
{
    const conversion *row;
    return choose(*static_cast<bool *>(state), c, &row, message, size);
}

assay_answer run(void *state, const assay_contract *c, const assay_tensor *inputs,
                 int64_t input_count, const assay_tensor *outputs, int64_t output_count,
                 char *message, size_t size)
{
    bool pairs = *static_cast<bool *>(state);
    const conversion *row;
    assay_answer answer = choose(pairs, c, &row, message, size);
    if (answer != ASSAY_DONE)
        return answer;
    if (input_count != 1 || output_count != 1 || !same(inputs->type, row->from) ||
        !same(outputs->type, row->to))
        return say(ASSAY_UNSUPPORTED, message, size, "expected one input of type %s, one output of "
                   "type %s", row->from, row->to);
    for (int64_t i = 0; i < inputs->rows; i++) {
        const char *from = static_cast<const char *>(inputs->data) +
                           i * inputs->row_stride * inputs->code_bytes;
        char *to = static_cast<char *>(outputs->data) +
                   i * outputs->row_stride * outputs->code_bytes;
        (pairs ? row->two : row->one)(from, to, static_cast<size_t>(inputs->cols));
    }
    return ASSAY_DONE;
}

const assay_adapter adapter = {ASSAY_ADAPTER_ABI, open_headers, describe,
                               supports,          run,          close_headers};

} // namespace

const assay_adapter *assay_adapter_main(void)
{
    return &adapter;
}
