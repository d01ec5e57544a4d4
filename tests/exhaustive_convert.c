/* All 2^32 f32 values: bulk conversion == scalar conversion, and scalar == the exact encoder on a
 * structured subset, or with --round on everything (minutes a cast and core).
 *
 *   exhaustive_convert [--round] [--threads N] [--bits N] [FORMAT...]
 *
 * Without formats: those of the OCP and NVIDIA families. --bits N: 2^N values, spread evenly. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ref/convert.h"

static const char *const families[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "e8m0",
                                       "mxint8", "f16", "bf16", "tf32", "ue4m3"};

/* One sweep: a format and a cast; shards of 2^16 neighbouring values are handed out to threads. */
typedef struct {
    const assay_format *f;
    assay_cast cast;
    bool round_all;
    int bits;
    atomic_uint next;
    atomic_ullong checks, failures;
} sweep;

enum { SHARD = 1 << 16 };

/* The values that the exact encoder always sees: each shard's ends and every 251st in between; over
 * all shards that is every exponent with every low pattern of the fraction many times. */
static bool in_subset(uint32_t i)
{
    return i % 251 == 0 || i < 4 || i >= SHARD - 4;
}

static uint64_t stored(const void *codes, int storage, uint32_t i)
{
    uint64_t code = 0;
    memcpy(&code, (const char *)codes + (size_t)i * (size_t)storage, (size_t)storage);
    return code;
}

static void report_difference(sweep *s, const char *what, uint32_t bits, uint64_t got, uint64_t want)
{
    if (atomic_fetch_add(&s->failures, 1) < 10)
        fprintf(stderr, "%s %s %s: %08x: %s 0x%" PRIx64 ", must be 0x%" PRIx64 "\n", s->f->name,
                assay_mode_name(s->cast.mode), assay_overflow_name(s->cast.overflow), bits, what,
                got, want);
}

static void run_shard(sweep *s, uint32_t shard, uint32_t *x, void *codes, assay_exact *v)
{
    const assay_format *f32 = assay_format_find("f32");
    int storage = assay_format_storage(s->f);
    uint32_t stride = (uint32_t)1 << (32 - s->bits);
    for (uint32_t i = 0; i < SHARD; i++)
        x[i] = (shard * SHARD + i) * stride;
    assay_convert_f32_array(s->f, &s->cast, x, codes, SHARD);
    uint64_t checks = SHARD;
    for (uint32_t i = 0; i < SHARD; i++) {
        uint64_t scalar = assay_convert_f32(s->f, x[i], &s->cast, 0).code;
        if (stored(codes, storage, i) != scalar)
            report_difference(s, "bulk", x[i], stored(codes, storage, i), scalar);
        if (!s->round_all && !in_subset(i))
            continue;
        assay_exact_set_code(v, f32, x[i]);
        uint64_t exact = assay_round(s->f, v, &s->cast, 0).code;
        checks++;
        if (scalar != exact)
            report_difference(s, "scalar", x[i], scalar, exact);
    }
    atomic_fetch_add(&s->checks, checks);
}

static void *work(void *argument)
{
    sweep *s = argument;
    uint32_t *x = malloc(SHARD * sizeof *x);
    uint64_t *codes = calloc(SHARD, sizeof *codes);
    assay_exact v;
    assay_exact_init(&v);
    for (;;) {
        uint32_t shard = atomic_fetch_add(&s->next, 1);
        if (!x || !codes || shard >= (uint32_t)1 << (s->bits - 16))
            break;
        run_shard(s, shard, x, codes, &v);
    }
    assay_exact_clear(&v);
    mpfr_free_cache();
    free(x);
    free(codes);
    return NULL;
}

static void show_progress(sweep *s, time_t start)
{
    uint32_t shards = (uint32_t)1 << (s->bits - 16);
    uint32_t done = atomic_load(&s->next);
    fprintf(stderr, "\r%-12s %-9s %-6s %3d %%  %4ld s ", s->f->name, assay_mode_name(s->cast.mode),
            assay_overflow_name(s->cast.overflow),
            (int)(100 * (uint64_t)(done < shards ? done : shards) / shards),
            (long)(time(NULL) - start));
}

/* Runs one sweep on all threads; the number of differences. */
static uint64_t run_sweep(sweep *s, int threads)
{
    pthread_t id[64];
    time_t start = time(NULL);
    int started = 0;
    bool terminal = isatty(2);
    for (; started < threads; started++)
        if (pthread_create(&id[started], NULL, work, s))
            break;
    if (started == 0)
        work(s);
    while (terminal && atomic_load(&s->next) < (uint32_t)1 << (s->bits - 16)) {
        show_progress(s, start);
        usleep(200000);
    }
    for (int i = 0; i < started; i++)
        pthread_join(id[i], NULL);
    if (terminal)
        fputc('\r', stderr);
    printf("%-12s %-9s %-6s %llu checks, %llu differences, %ld s\n", s->f->name,
           assay_mode_name(s->cast.mode), assay_overflow_name(s->cast.overflow),
           (unsigned long long)atomic_load(&s->checks),
           (unsigned long long)atomic_load(&s->failures), (long)(time(NULL) - start));
    fflush(stdout);
    return atomic_load(&s->failures);
}

/* The casts worth 2^32 inputs: the default, not saturating, and toward zero; for e8m0 also up. */
static uint64_t run_format(const assay_format *f, bool round_all, int bits, int threads)
{
    static const assay_mode modes[] = {ASSAY_EVEN, ASSAY_EVEN, ASSAY_ZERO, ASSAY_UP};
    static const assay_overflow overflows[] = {ASSAY_SAT, ASSAY_NOSAT, ASSAY_SAT, ASSAY_NOSAT};
    uint64_t failures = 0;
    for (int i = 0; i < (f->kind == ASSAY_KIND_POWER ? 4 : 3); i++) {
        sweep s = {.f = f, .cast = assay_cast_default(f), .round_all = round_all, .bits = bits};
        s.cast.mode = modes[i];
        s.cast.overflow = overflows[i];
        failures += run_sweep(&s, threads);
    }
    return failures;
}

static int usage(const char *why)
{
    fprintf(stderr, "exhaustive_convert: %s\nusage: exhaustive_convert [--round] [--threads 1..64] "
                    "[--bits 16..32] [FORMAT...]\n", why);
    return 2;
}

int main(int argc, char **argv)
{
    bool round_all = false;
    int bits = 32, threads = (int)sysconf(_SC_NPROCESSORS_ONLN), named = 0;
    uint64_t failures = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--round"))
            round_all = true;
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--bits") && i + 1 < argc)
            bits = atoi(argv[++i]);
        else if (argv[i][0] == '-' || !assay_format_find(argv[i]))
            return usage(argv[i]);
        else
            argv[named++] = argv[i];
    }
    threads = threads > 64 ? 64 : threads;
    if (threads < 1 || bits < 16 || bits > 32)
        return usage("a number is out of range");
    if (named == 0)
        for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
            failures += run_format(assay_format_find(families[i]), round_all, bits, threads);
    for (int i = 0; i < named; i++)
        failures += run_format(assay_format_find(argv[i]), round_all, bits, threads);
    printf("%" PRIu64 " differences in all\n", failures);
    return failures ? 1 : 0;
}
