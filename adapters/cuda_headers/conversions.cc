// NVIDIA's own conversions, compiled for the host by a plain C++ compiler.
#include "conversions.h"

#include <cuda_runtime_api.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstring>

namespace {

// ---- loops: `Header::of` is the header's function for one source type, found by overloading ----

template <typename Header, typename From>
void loop(const void *from, void *to, size_t n)
{
    const char *in = static_cast<const char *>(from);
    char *out = static_cast<char *>(to);
    for (size_t i = 0; i < n; i++) {
        From x;
        std::memcpy(&x, in + i * sizeof x, sizeof x); // inputs may be misaligned
        auto y = Header::of(x);
        std::memcpy(out + i * sizeof y, &y, sizeof y);
    }
}

// `Header::pair` takes a pair and returns the two codes in `bits` bits each, the first one lowest.
template <typename Header, typename From, typename Pair>
void loop_pairs(const void *from, void *to, size_t n)
{
    static_assert(sizeof(Pair) == 2 * sizeof(From), "a pair is two values, x first");
    const char *in = static_cast<const char *>(from);
    uint8_t *out = static_cast<uint8_t *>(to);
    for (size_t i = 0; i + 1 < n; i += 2) {
        Pair p;
        std::memcpy(&p, in + i * sizeof(From), sizeof p);
        unsigned both = Header::pair(p);
        out[i] = static_cast<uint8_t>(both & ((1u << Header::bits) - 1));
        out[i + 1] = static_cast<uint8_t>(both >> Header::bits);
    }
    if (n % 2) // the last one alone, beside itself
        loop<Header, From>(in + (n - 1) * sizeof(From), out + n - 1, 1);
}

// ---- the header's functions, gathered under one name for each destination ----

template <__nv_fp8_interpretation_t Kind, __nv_saturation_t Over>
struct fp8 {
    static constexpr unsigned bits = 8;
    static uint8_t of(float x) { return __nv_cvt_float_to_fp8(x, Over, Kind); }
    static uint8_t of(double x) { return __nv_cvt_double_to_fp8(x, Over, Kind); }
    static uint8_t of(__half_raw x) { return __nv_cvt_halfraw_to_fp8(x, Over, Kind); }
    static uint8_t of(__nv_bfloat16_raw x) { return __nv_cvt_bfloat16raw_to_fp8(x, Over, Kind); }
    static unsigned pair(float2 x) { return __nv_cvt_float2_to_fp8x2(x, Over, Kind); }
    static unsigned pair(double2 x) { return __nv_cvt_double2_to_fp8x2(x, Over, Kind); }
    static unsigned pair(__half2_raw x) { return __nv_cvt_halfraw2_to_fp8x2(x, Over, Kind); }
    static unsigned pair(__nv_bfloat162_raw x)
    {
        return __nv_cvt_bfloat16raw2_to_fp8x2(x, Over, Kind);
    }
};

template <__nv_fp6_interpretation_t Kind, cudaRoundMode Round>
struct fp6 {
    static constexpr unsigned bits = 8; // the headers never pack six-bit codes
    static uint8_t of(float x) { return __nv_cvt_float_to_fp6(x, Kind, Round); }
    static uint8_t of(double x) { return __nv_cvt_double_to_fp6(x, Kind, Round); }
    static uint8_t of(__half_raw x) { return __nv_cvt_halfraw_to_fp6(x, Kind, Round); }
    static uint8_t of(__nv_bfloat16_raw x) { return __nv_cvt_bfloat16raw_to_fp6(x, Kind, Round); }
    static unsigned pair(float2 x) { return __nv_cvt_float2_to_fp6x2(x, Kind, Round); }
    static unsigned pair(double2 x) { return __nv_cvt_double2_to_fp6x2(x, Kind, Round); }
    static unsigned pair(__half2_raw x) { return __nv_cvt_halfraw2_to_fp6x2(x, Kind, Round); }
    static unsigned pair(__nv_bfloat162_raw x)
    {
        return __nv_cvt_bfloat16raw2_to_fp6x2(x, Kind, Round);
    }
};

template <cudaRoundMode Round>
struct fp4 {
    static constexpr unsigned bits = 4;
    static uint8_t of(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, Round); }
    static uint8_t of(double x) { return __nv_cvt_double_to_fp4(x, __NV_E2M1, Round); }
    static uint8_t of(__half_raw x) { return __nv_cvt_halfraw_to_fp4(x, __NV_E2M1, Round); }
    static uint8_t of(__nv_bfloat16_raw x)
    {
        return __nv_cvt_bfloat16raw_to_fp4(x, __NV_E2M1, Round);
    }
    static unsigned pair(float2 x) { return __nv_cvt_float2_to_fp4x2(x, __NV_E2M1, Round); }
    static unsigned pair(double2 x) { return __nv_cvt_double2_to_fp4x2(x, __NV_E2M1, Round); }
    static unsigned pair(__half2_raw x) { return __nv_cvt_halfraw2_to_fp4x2(x, __NV_E2M1, Round); }
    static unsigned pair(__nv_bfloat162_raw x)
    {
        return __nv_cvt_bfloat16raw2_to_fp4x2(x, __NV_E2M1, Round);
    }
};

template <cudaRoundMode Round, __nv_saturation_t Over>
struct e8m0 {
    static constexpr unsigned bits = 8;
    static uint8_t of(float x) { return __nv_cvt_float_to_e8m0(x, Over, Round); }
    static uint8_t of(double x) { return __nv_cvt_double_to_e8m0(x, Over, Round); }
    static uint8_t of(__nv_bfloat16_raw x) { return __nv_cvt_bfloat16raw_to_e8m0(x, Over, Round); }
    static unsigned pair(float2 x) { return __nv_cvt_float2_to_e8m0x2(x, Over, Round); }
    static unsigned pair(double2 x) { return __nv_cvt_double2_to_e8m0x2(x, Over, Round); }
    static unsigned pair(__nv_bfloat162_raw x)
    {
        return __nv_cvt_bfloat162raw_to_e8m0x2(x, Over, Round);
    }
};

struct e8m0_class { // half reaches e8m0 by the class alone: upward, saturating
    static uint8_t of(__half_raw x) { return __nv_fp8_e8m0(__half(x)).__x; }
};

template <typename To, To (*Convert)(float)>
struct from_float {
    static To of(float x) { return Convert(x); }
};
template <typename To, To (*Convert)(double)>
struct from_double {
    static To of(double x) { return Convert(x); }
};

template <__nv_fp8_interpretation_t Kind>
struct half_of_fp8 {
    static __half_raw of(uint8_t x) { return __nv_cvt_fp8_to_halfraw(x, Kind); }
};
template <__nv_fp6_interpretation_t Kind>
struct half_of_fp6 {
    static __half_raw of(uint8_t x) { return __nv_cvt_fp6_to_halfraw(x, Kind); }
};
struct half_of_fp4 {
    static __half_raw of(uint8_t x) { return __nv_cvt_fp4_to_halfraw(x, __NV_E2M1); }
};
struct bf16_of_e8m0 {
    static __nv_bfloat16_raw of(uint8_t x) { return __nv_cvt_e8m0_to_bf16raw(x); }
};
struct float_of_half {
    static float of(__half_raw x) { return __half2float(__half(x)); }
};
struct float_of_bf16 {
    static float of(__nv_bfloat16_raw x) { return __bfloat162float(__nv_bfloat16(x)); }
};

} // namespace

// ---- the table ----

#define ROW(from, to, round, over, ieee, From, ...)                                                \
    {from, to, round, over, ieee, loop<__VA_ARGS__, From>, nullptr},
#define PAIRED(from, to, round, over, ieee, From, Pair, ...)                                       \
    {from, to, round, over, ieee, loop<__VA_ARGS__, From>, loop_pairs<__VA_ARGS__, From, Pair>},
// wide: whether the f64 form, too, equals the IEEE contract (fp8: its NaN differs; e8m0 toward zero: it
// answers 2^127 from 2^128 on where nosat asks for NaN)
#define THREE_SOURCES(to, round, over, ieee, wide, ...)                                            \
    PAIRED("f32", to, round, over, ieee, float, float2, __VA_ARGS__)                               \
    PAIRED("bf16", to, round, over, ieee, __nv_bfloat16_raw, __nv_bfloat162_raw, __VA_ARGS__)      \
    PAIRED("f64", to, round, over, wide, double, double2, __VA_ARGS__)
#define FOUR_SOURCES(to, round, over, ieee, wide, ...)                                             \
    THREE_SOURCES(to, round, over, ieee, wide, __VA_ARGS__)                                        \
    PAIRED("f16", to, round, over, ieee, __half_raw, __half2_raw, __VA_ARGS__)

const conversion conversions[] = {
    FOUR_SOURCES("e4m3", "even", "sat", true, false, fp8<__NV_E4M3, __NV_SATFINITE>)
    FOUR_SOURCES("e4m3", "even", "nosat", true, false, fp8<__NV_E4M3, __NV_NOSAT>)
    FOUR_SOURCES("e5m2", "even", "sat", false, false, fp8<__NV_E5M2, __NV_SATFINITE>)
    FOUR_SOURCES("e5m2", "even", "nosat", false, false, fp8<__NV_E5M2, __NV_NOSAT>)
    FOUR_SOURCES("e2m3", "even", "sat", true, true, fp6<__NV_E2M3, cudaRoundNearest>)
    FOUR_SOURCES("e2m3", "zero", "sat", true, true, fp6<__NV_E2M3, cudaRoundZero>)
    FOUR_SOURCES("e3m2", "even", "sat", true, true, fp6<__NV_E3M2, cudaRoundNearest>)
    FOUR_SOURCES("e3m2", "zero", "sat", true, true, fp6<__NV_E3M2, cudaRoundZero>)
    FOUR_SOURCES("e2m1", "even", "sat", true, true, fp4<cudaRoundNearest>)
    FOUR_SOURCES("e2m1", "zero", "sat", true, true, fp4<cudaRoundZero>)
    THREE_SOURCES("e8m0", "zero", "sat", true, true, e8m0<cudaRoundZero, __NV_SATFINITE>)
    THREE_SOURCES("e8m0", "zero", "nosat", true, false, e8m0<cudaRoundZero, __NV_NOSAT>)
    THREE_SOURCES("e8m0", "up", "sat", true, true, e8m0<cudaRoundPosInf, __NV_SATFINITE>)
    THREE_SOURCES("e8m0", "up", "nosat", true, true, e8m0<cudaRoundPosInf, __NV_NOSAT>)
    ROW("f16", "e8m0", "up", "sat", true, __half_raw, e8m0_class)

    ROW("f32", "f16", "even", "nosat", false, float, from_float<__half, __float2half_rn>)
    ROW("f32", "f16", "zero", "nosat", false, float, from_float<__half, __float2half_rz>)
    ROW("f32", "f16", "up", "nosat", false, float, from_float<__half, __float2half_ru>)
    ROW("f32", "f16", "down", "nosat", false, float, from_float<__half, __float2half_rd>)
    ROW("f64", "f16", "even", "nosat", false, double, from_double<__half, __double2half>)
    ROW("f32", "bf16", "even", "nosat", false, float,
        from_float<__nv_bfloat16, __float2bfloat16_rn>)
    ROW("f32", "bf16", "zero", "nosat", false, float,
        from_float<__nv_bfloat16, __float2bfloat16_rz>)
    ROW("f32", "bf16", "up", "nosat", false, float,
        from_float<__nv_bfloat16, __float2bfloat16_ru>)
    ROW("f32", "bf16", "down", "nosat", false, float,
        from_float<__nv_bfloat16, __float2bfloat16_rd>)
    ROW("f64", "bf16", "even", "nosat", false, double,
        from_double<__nv_bfloat16, __double2bfloat16>)

    ROW("e4m3", "f16", "exact", "exact", false, uint8_t, half_of_fp8<__NV_E4M3>)
    ROW("e5m2", "f16", "exact", "exact", false, uint8_t, half_of_fp8<__NV_E5M2>)
    ROW("e2m3", "f16", "exact", "exact", false, uint8_t, half_of_fp6<__NV_E2M3>)
    ROW("e3m2", "f16", "exact", "exact", false, uint8_t, half_of_fp6<__NV_E3M2>)
    ROW("e2m1", "f16", "exact", "exact", false, uint8_t, half_of_fp4)
    ROW("e8m0", "bf16", "exact", "exact", false, uint8_t, bf16_of_e8m0)
    ROW("f16", "f32", "exact", "exact", false, __half_raw, float_of_half)
    ROW("bf16", "f32", "exact", "exact", false, __nv_bfloat16_raw, float_of_bf16)
};
const size_t conversion_count = sizeof conversions / sizeof conversions[0];

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *headers_version()
{
    static const char digits[] = TEXT(CUDART_VERSION); // 13000: major * 1000 + minor * 10
    static const char text[] = {digits[0], digits[1], '.', digits[3], '\0'};
    static_assert(sizeof digits == 6, "a release of two digits");
    return text;
}
