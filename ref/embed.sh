#!/bin/sh
# Prints a C file that holds the given recipe files as arrays: names and bytes for catalogue.c.
set -eu
printf '/* Made by ref/embed.sh from the recipe files. */\n#include <stddef.h>\n'
n=0
for file in "$@"; do
    printf 'static const unsigned char text_%d[] = {' "$n"
    od -An -v -tu1 "$file" | sed 's/  */,/g; s/^,//; s/$/,/'
    printf '0};\n'
    n=$((n + 1))
done
printf 'const struct { const char *file; const unsigned char *text; size_t size; } assay_catalogue_data[] = {\n'
n=0
for file in "$@"; do
    printf '    {"%s", text_%d, sizeof text_%d - 1},\n' "$file" "$n" "$n"
    n=$((n + 1))
done
printf '    {NULL, NULL, 0}\n};\nconst int assay_catalogue_data_count = %d;\n' "$n"
