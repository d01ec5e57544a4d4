/* What a recipe's page says beyond its text: formats, bytes, traps, worked blocks. */
#ifndef ASSAY_RECIPES_PAGE_H
#define ASSAY_RECIPES_PAGE_H

#include "command.h"

/* Adds to `o` (which has `systems`): `instance`, `layout` (lines), `checked`, `traps` (the comments'
 * own words), `blocks`: what becomes of some inputs, by the exact evaluator. */
void recipes_page_add(json_t *o, const assay_recipe *r, const assay_program *p);
/* The text, then the rest as comment lines: the page is itself a recipe file. */
void recipes_page_print(const json_t *o, const assay_recipe *r);

#endif
