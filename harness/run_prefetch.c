#include "run_prefetch.h"

#include <mpfr.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { AHEAD = 2, THREADS = 64 }; /* sets made ahead, for each thread */

typedef struct {
    assay_vector_set *set;
    assay_error error;
    bool made;
} slot;

struct run_prefetch {
    const run_state *s;
    const run_unit *units;
    slot *slots;
    int count, next, taken; /* to be made next; all below `taken` are taken */
    int ahead;
    bool over;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t threads[THREADS];
    int thread_count;
};

static void *make(void *argument)
{
    run_prefetch *f = argument;
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!f->over && f->next < f->count && f->next >= f->taken + f->ahead)
            pthread_cond_wait(&f->changed, &f->lock);
        if (f->over || f->next >= f->count || run_stop)
            break;
        int i = f->next++;
        pthread_mutex_unlock(&f->lock);
        assay_error error = {""};
        assay_vector_set *set = run_vectors(f->s, f->units[i].instance, f->units[i].class_, &error);
        pthread_mutex_lock(&f->lock);
        f->slots[i] = (slot){set, error, true};
        pthread_cond_broadcast(&f->changed);
    }
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    mpfr_free_cache();
    return NULL;
}

run_prefetch *run_prefetch_begin(const run_state *s, const run_unit *units, int count)
{
    run_prefetch *f = calloc(1, sizeof *f);
    slot *slots = calloc((size_t)count + 1, sizeof *slots);
    if (!f || !slots) {
        free(f);
        free(slots);
        return NULL;
    }
    int wanted = s->o->threads > 0 ? s->o->threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    wanted = wanted > THREADS ? THREADS : wanted > count ? count : wanted;
    *f = (run_prefetch){.s = s, .units = units, .slots = slots, .count = count,
                        .ahead = AHEAD * wanted};
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    while (f->thread_count < wanted &&
           !pthread_create(&f->threads[f->thread_count], NULL, make, f))
        f->thread_count++;
    return f;
}

assay_vector_set *run_prefetch_take(run_prefetch *f, int i, assay_error *error)
{
    pthread_mutex_lock(&f->lock);
    f->taken = i;
    pthread_cond_broadcast(&f->changed);
    /* A signal wakes nobody here: looks at it now and then. */
    while (!f->slots[i].made && !run_stop && f->thread_count) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&f->changed, &f->lock, &until);
    }
    slot s = f->slots[i];
    f->slots[i].set = NULL;
    pthread_mutex_unlock(&f->lock);
    if (!f->thread_count) /* no threads to be had: here and now */
        return run_vectors(f->s, f->units[i].instance, f->units[i].class_, error);
    *error = s.error;
    return s.set;
}

void run_prefetch_end(run_prefetch *f)
{
    pthread_mutex_lock(&f->lock);
    f->over = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < f->thread_count; i++)
        pthread_join(f->threads[i], NULL);
    for (int i = 0; i < f->count; i++)
        assay_vectors_free(f->slots[i].set);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f->slots);
    free(f);
}
