/* Right arithmetic (cast.ieee, cast.nvidia) and bad manners. */
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faulty.h"

static const fault right = {"right", "", cast_run, CAST_RIGHT};

static void nothing_optimized(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Writes over the frame of its caller; the stack protector or the return finds it. */
__attribute__((noinline)) static void smash(size_t n)
{
    char small[16];
    nothing_optimized(small);
    for (volatile size_t i = 0; i < n; i++)
        small[i] = (char)0xA5;
    nothing_optimized(small);
}

static void leak(void)
{
    for (;;) {
        size_t n = (size_t)16 << 20;
        char *p = malloc(n);
        if (!p)
            pause(); /* no more: wait for what comes */
        for (size_t i = 0; p && i < n; i += 4096)
            p[i] = 1;
        nothing_optimized(p);
    }
}

static void print_much(void)
{
    for (int i = 0; i < 20000; i++)
        printf("{\"answer\": \"failed\", \"message\": \"not an answer\"}\n%c%c\x1b[2J", 0, 255);
    fflush(stdout);
    fprintf(stderr, "thread (0, 0): FP4 conversion is not supported on this device\n");
}

static void forks(void)
{
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            for (;;)
                pause(); /* holds every descriptor open */
        }
}

/* Encodes with the machine's own rounding, which it has set to toward zero and does not set back. */
static void machine_rounding(const call *c)
{
    const assay_tensor *x = call_input(c, "x"), *q = call_output(c, "Q");
    const narrow *f = narrow_find(assay_contract_setting(c->contract, "F"));
    fesetround(FE_TOWARDZERO);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) {
            double v = tensor_get(x, i, j);
            bool plain = !isnan(v) && fabs(v) <= f->max;
            unsigned nan = !strcmp(c->contract->recipe, "cast.nvidia") ? 0x7F : f->nan;
            volatile double scaled = plain ? ldexp(fabs(v), f->mantissa_bits -
                                                                narrow_exponent(f, fabs(v))) : 0;
            volatile double whole = scaled + 0x1p52;
            whole -= 0x1p52;
            tensor_set(q, i, j,
                       plain ? narrow_finish(f, narrow_code(f, whole, narrow_exponent(f, fabs(v))), v,
                                             SAT, nan)
                             : narrow_encode(f, v, SAT, nan));
        }
}

/* Before the right answer: what ends the process, or lasts. */
static assay_answer before(const fault *f, const call *c)
{
    switch (f->which) {
    case CONDUCT_SEGV: {
        volatile uintptr_t nowhere = 16;
        *(volatile int *)nowhere = 1;
        break;
    }
    case CONDUCT_ABORT:
        abort();
    case CONDUCT_EXIT:
        exit(0);
    case CONDUCT_HANG:
        for (;;)
            pause();
    case CONDUCT_SMASH:
        smash(4096);
        break;
    case CONDUCT_PRINTS:
        print_much();
        break;
    case CONDUCT_CLOSES:
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
        break;
    case CONDUCT_CLOSES_OUTPUT:
        close(0), close(1), close(2);
        break;
    case CONDUCT_LEAKS:
        leak();
        break;
    case CONDUCT_CHANNEL: {
        static const char text[] = "garbage on the channel\n";
        (void)!write(3, text, sizeof text - 1);
        break;
    }
    case CONDUCT_FAILS:
        snprintf(c->message, c->message_size, "CUDA error: invalid argument");
        return ASSAY_FAILED;
    case CONDUCT_FORKS:
        forks();
        break;
    case CONDUCT_TRUNCATES:
        (void)!ftruncate(4, 0);
        (void)!ftruncate(5, 0);
        break;
    case CONDUCT_CRASHES_ONCE: /* on one shape only: the rest of the cases must be judged */
        if (c->in[0].rows * c->in[0].cols == 1)
            raise(SIGFPE);
        break;
    }
    return ASSAY_DONE;
}

/* In place of the right answer, or after it. */
static void spoil(const fault *f, const call *c)
{
    const assay_tensor *q = call_output(c, "Q"), *x = call_input(c, "x");
    int64_t n = q->rows * q->cols;
    uint8_t *bytes = q->data;
    static unsigned calls;
    switch (f->which) {
    case CONDUCT_OVERRUN:
        bytes[n] = 0;
        break;
    case CONDUCT_OVERRUN_FAR:
        for (int64_t i = 0; i < 8192; i++)
            bytes[n + i] = 0;
        break;
    case CONDUCT_UNDERRUN:
        bytes[-1] = 0;
        break;
    case CONDUCT_INPUT:
        *(uint8_t *)x->data = 0;
        break;
    case CONDUCT_CHANCE:
        if (n)
            tensor_set(q, 0, 0, tensor_code(q, 0, 0) ^ (calls++ & 1));
        break;
    }
}

/* All but the last element of a longer row; or onto what the buffer held. */
static void write_some(const fault *f, const call *c)
{
    const assay_tensor *q = call_output(c, "Q");
    size_t bytes = (size_t)(q->rows * q->cols);
    uint8_t *all = malloc(bytes + 1);
    assay_tensor own = *q;
    own.data = all;
    own.row_stride = q->cols;
    call mine = *c;
    mine.out = &own;
    mine.out_count = 1;
    if (all && cast_run(&right, &mine) == ASSAY_DONE)
        for (int64_t i = 0; i < q->rows; i++)
            for (int64_t j = 0; j < q->cols; j++) {
                uint8_t *to = (uint8_t *)q->data + i * q->row_stride + j;
                if (f->which == CONDUCT_ACCUMULATES)
                    *to = (uint8_t)(*to > all[i * q->cols + j] ? *to : all[i * q->cols + j]);
                else if (i < q->rows / 2 || q->rows == 1)
                    *to = all[i * q->cols + j];
            }
    free(all);
}

assay_answer conduct_run(const fault *f, const call *c)
{
    call asked = {.contract = c->contract};
    if (cast_run(&right, &asked) != ASSAY_DONE || setting_is(c, "round", "stochastic"))
        return ASSAY_UNSUPPORTED;
    if (!c->in_count)
        return ASSAY_DONE;
    assay_answer a = before(f, c);
    if (a != ASSAY_DONE)
        return a;
    if (f->which == CONDUCT_ROUNDING) {
        machine_rounding(c);
    } else if (f->which == CONDUCT_PARTIAL || f->which == CONDUCT_ACCUMULATES) {
        write_some(f, c);
    } else {
        cast_run(&right, c);
        spoil(f, c);
    }
    return ASSAY_DONE;
}
