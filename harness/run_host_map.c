#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "isolate.h"
#include "run_host.h"

enum { GUARD = 1 << 16 }; /* bytes of inaccessible space on either side: overruns may be long */

static int64_t field(const json_t *tensor, const char *key)
{
    return json_integer_value(json_object_get(tensor, key));
}

static void unmap(host_map *map)
{
    for (int i = 0; i < map->count; i++)
        if (map->regions[i].base)
            munmap(map->regions[i].base, map->regions[i].length);
    free(map->regions);
    *map = (host_map){0};
}

static host_region wanted(const json_t *tensor, int fd, int writable)
{
    const json_t *region = json_object_get(tensor, "region");
    return (host_region){.name = json_string_value(json_object_get(tensor, "name")),
                         .start = (size_t)json_integer_value(json_array_get(region, 0)),
                         .pages = (size_t)json_integer_value(json_array_get(region, 1)),
                         .fd = fd,
                         .writable = writable};
}

static int map_region(host_region *r)
{
    r->length = r->pages + 2 * (size_t)GUARD;
    unsigned char *base = mmap(NULL, r->length, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -1;
    r->base = base;
    int protection = PROT_READ | (r->writable ? PROT_WRITE : 0);
    return mmap(base + GUARD, r->pages, protection, MAP_SHARED | MAP_FIXED, r->fd,
                (off_t)r->start) == MAP_FAILED
               ? -1
               : 0;
}

static const json_t *tensor_at(const json_t *inputs, const json_t *outputs, int i)
{
    int n = (int)json_array_size(inputs);
    return i < n ? json_array_get(inputs, (size_t)i) : json_array_get(outputs, (size_t)(i - n));
}

int host_map_tensors(host_map *map, const json_t *inputs, const json_t *outputs,
                     assay_tensor *tensors)
{
    int in = (int)json_array_size(inputs), count = in + (int)json_array_size(outputs);
    int same = map->count == count;
    for (int i = 0; i < count && same; i++) {
        host_region r = wanted(tensor_at(inputs, outputs, i), 0, i >= in);
        const host_region *old = &map->regions[i];
        same = old->start == r.start && old->pages == r.pages && old->writable == r.writable;
    }
    if (!same) {
        unmap(map);
        map->regions = calloc((size_t)count + 1, sizeof *map->regions);
        if (!map->regions)
            return -1;
        map->count = count;
    }
    for (int i = 0; i < count; i++) {
        const json_t *t = tensor_at(inputs, outputs, i);
        host_region r = wanted(t, i < in ? ISOLATE_INPUTS : ISOLATE_OUTPUTS, i >= in);
        if (same)
            map->regions[i].name = r.name; /* belongs to the new request */
        else if (map->regions[i] = r, map_region(&map->regions[i]))
            return -1;
        tensors[i] = (assay_tensor){
            .name = r.name,
            .type = json_string_value(json_object_get(t, "type")),
            .rows = field(t, "rows"),
            .cols = field(t, "cols"),
            .row_stride = field(t, "row_stride"),
            .code_bytes = field(t, "code_bytes"),
            .data = map->regions[i].base + GUARD + ((size_t)field(t, "offset") - r.start)};
    }
    return 0;
}

static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);
    while (*more && n + 1 < size)
        text[n++] = *more++;
    text[n] = '\0';
}

int host_map_blame(const host_map *map, const void *address, char *text, size_t size)
{
    const unsigned char *at = address;
    for (int i = 0; i < map->count; i++) {
        const host_region *r = &map->regions[i];
        if (!r->base || at < r->base || at >= r->base + r->length)
            continue;
        text[0] = '\0';
        if (at >= r->base + GUARD && at < r->base + GUARD + r->pages)
            append(text, size, r->writable ? "fault inside " : "wrote into its input ");
        else
            append(text, size, at < r->base + GUARD ? "touched memory before " : "touched memory behind ");
        append(text, size, r->name ? r->name : "a tensor");
        return 1;
    }
    return 0;
}
