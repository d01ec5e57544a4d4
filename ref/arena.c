#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct chunk chunk;
struct chunk {
    chunk *next;
    size_t used, room;
    alignas(max_align_t) unsigned char data[];
};
struct assay_arena {
    chunk *first;
};

static void *need(void *p)
{
    if (!p)
        abort();
    return p;
}

assay_arena *assay_arena_new(void)
{
    return need(calloc(1, sizeof(assay_arena)));
}

void assay_arena_free(assay_arena *a)
{
    if (!a)
        return;
    for (chunk *c = a->first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void *assay_arena_alloc(assay_arena *a, size_t size)
{
    enum { ALIGN = alignof(max_align_t), LEAST = 1 << 14 };
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    chunk *c = a->first;
    if (!c || c->room - c->used < size) {
        size_t room = size > LEAST ? size : LEAST;
        c = need(calloc(1, sizeof *c + room));
        c->room = room;
        c->next = a->first;
        a->first = c;
    }
    void *p = c->data + c->used;
    c->used += size;
    return p;
}

char *assay_arena_copy(assay_arena *a, const char *text, size_t length)
{
    char *p = assay_arena_alloc(a, length + 1);
    if (length)
        memcpy(p, text, length);
    return p;
}

char *assay_arena_format(assay_arena *a, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *p = assay_arena_alloc(a, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(p, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return p;
}

void *assay_arena_grow(assay_arena *a, void *array, int count, size_t element)
{
    if (count & (count - 1))
        return array;
    void *larger = assay_arena_alloc(a, element * (count ? (size_t)count * 2 : 1));
    if (count)
        memcpy(larger, array, element * (size_t)count);
    return larger;
}

void assay_text_add(assay_text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (t->length + (size_t)length + 1 > t->room) {
        t->room = (t->length + (size_t)length + 1) * 2;
        t->s = need(realloc(t->s, t->room));
    }
    va_start(arguments, format);
    vsnprintf(t->s + t->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    t->length += (size_t)length;
}

char *assay_text_take(assay_text *t)
{
    char *s = t->s ? t->s : need(calloc(1, 1));
    *t = (assay_text){0};
    return s;
}
