// One table row for each conversion that NVIDIA's headers offer, with the loop that calls it.
#ifndef ASSAY_CUDA_HEADERS_CONVERSIONS_H
#define ASSAY_CUDA_HEADERS_CONVERSIONS_H

#include <cstddef>

// Formats and options in the words of the recipe language.
struct conversion {
    const char *from, *to;
    const char *round; // even zero up down; "exact" for the conversions to a wider type
    const char *over;  // sat nosat; "exact" likewise
    bool ieee;         // equals cast.ieee(F=to, T=from, ...) on every input, NaN included
    void (*one)(const void *from, void *to, size_t n); // n codes, one call of the header each
    void (*two)(const void *from, void *to, size_t n); // the pair form of the same, or NULL
};

extern const conversion conversions[];
extern const size_t conversion_count;

// "13.0", from the headers themselves.
const char *headers_version();

#endif
