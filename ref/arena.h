/* Memory of one recipe or program: many small pieces, given back all at once. */
#ifndef ASSAY_ARENA_H
#define ASSAY_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct assay_arena assay_arena;

assay_arena *assay_arena_new(void);
void assay_arena_free(assay_arena *a); /* NULL is fine */
/* Zeroed, aligned for every type; never NULL (aborts without memory). */
void *assay_arena_alloc(assay_arena *a, size_t size);
char *assay_arena_copy(assay_arena *a, const char *text, size_t length); /* adds the NUL */
char *assay_arena_format(assay_arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Room for one more element in an array that grows inside the arena: returns the array, moved if it
 * was full (at each power of two). */
void *assay_arena_grow(assay_arena *a, void *array, int count, size_t element);
#define ARENA_PUSH(arena, array, count)                                                            \
    ((array) = assay_arena_grow((arena), (array), (count), sizeof *(array)), &(array)[(count)++])

/* Text that grows by printing; the caller frees `s` (NULL until something was added). */
typedef struct {
    char *s;
    size_t length, room;
} assay_text;
void assay_text_add(assay_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *assay_text_take(assay_text *t); /* the text, "" if nothing was added; the caller frees it */

#endif
