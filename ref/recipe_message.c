/* Messages about a recipe's text: FILE:LINE:COL: error: TEXT, the line, a caret. */
#include <stdio.h>
#include <string.h>

#include "recipe_syntax.h"

enum { SHOWN = 160 }; /* characters of a long line that are shown */

static const char *find_line(const char *text, int line)
{
    for (; line > 1 && *text; text++)
        if (*text == '\n')
            line--;
    return text;
}

/* Copies the line to `shown`, and to `caret` what puts a ^ under `column` (tabs stay tabs). */
static void show_line(const char *line, int column, char *shown, char *caret)
{
    int first = column > SHOWN - 20 ? column - SHOWN + 20 : 1, at = 0;
    for (const char *s = line; *s && *s != '\n'; s++) {
        unsigned char c = (unsigned char)*s;
        bool continues = (c & 0xC0) == 0x80;
        at += !continues;
        if (at < first || at >= first + SHOWN)
            continue;
        *shown++ = (char)((c < ' ' && c != '\t') || c == 0x7F ? '?' : c);
        if (at < column && !continues)
            *caret++ = c == '\t' ? '\t' : ' ';
    }
    for (at++; at < column; at++)
        *caret++ = ' ';
    *shown = 0;
    *caret++ = '^';
    *caret = 0;
}

void recipe_fail(recipe_failure *f, const assay_recipe *r, token at, const char *format, ...)
{
    char text[1024], shown[SHOWN * 4 + 8], caret[SHOWN * 4 + 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    show_line(find_line(r->text, at.line), at.column, shown, caret);
    assay_fail(f->error, "%s:%d:%d: error: %s\n    %s\n    %s", r->file, at.line, at.column, text,
               shown, caret);
    f->failed = true;
    longjmp(f->jump, 1);
}

void recipe_note(assay_error *error, const char *format, ...)
{
    if (!error)
        return;
    size_t used = strlen(error->message), room = sizeof error->message;
    if (used + 2 >= room)
        return;
    error->message[used++] = '\n';
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, room - used, format, arguments);
    va_end(arguments);
}

/* Levenshtein distance, at most `bound` long words. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    int row[LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = changed < shorter ? changed : shorter;
        }
    }
    return row[m];
}

const char *recipe_nearest(const char *word, const char *const *words, int count)
{
    const char *best = NULL;
    int least = (int)strlen(word) / 3 + 2;
    for (int i = 0; i < count; i++) {
        int d = distance(word, words[i]);
        if (d < least) {
            least = d;
            best = words[i];
        }
    }
    return best;
}
