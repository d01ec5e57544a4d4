/* Hand-derived answers: inputs on which two plausible implementations part.
 *
 * Inputs and outputs are lists "NAME=CODES; NAME=CODES" of hexadecimal codes in row-major order;
 * "c*n" repeats a code. The matrix is one row of 128 columns (256 ... if a list is longer), with
 * zeros behind the list; "M=n" gives it n rows, "x|=" makes it a column. In outputs "_" is not
 * looked at, "nan" is any NaN, "?" must be marked as not judged; codes behind those listed are not
 * looked at. */
#ifndef ASSAY_WITNESSES_H
#define ASSAY_WITNESSES_H

typedef struct {
    const char *tag, *recipe, *inputs, *outputs;
} witness;

#endif
