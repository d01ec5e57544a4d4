// The element and scale functions of microxcaling's CUDA extension, compiled for the host from the user's
// checkout (-I mx/cpp). What its headers expect of CUDA and PyTorch is declared here, no more than is used.
#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

using std::abs;
typedef int cudaError_t;
enum { cudaSuccess = 0 };
static inline const char *cudaGetErrorString(int) { return ""; }
namespace at {
struct BFloat16 {
    operator float() const { return 0; }
};
struct Half {
    operator float() const { return 0; }
};
}
namespace torch {
struct Tensor {
    long dim() const { return 0; }
    std::vector<long> sizes() const { return {}; }
};
}
#include "quantize.cuh"
#include "shared_exp.cuh"

// One row of blocks of 32, as the kernel that loops over a tile does it.
extern "C" void quantize_blocks(const float *in, float *out, int64_t blocks, int ebits, int mbits, float top, int mode)
{
    for (int64_t b = 0; b < blocks; b++, in += 32, out += 32) {
        float most = 0;
        for (int i = 0; i < 32; i++) {
            float a = fabsf(in[i]);
            most = a > most || std::isnan(a) ? a : most;
        }
        float scale = mx_get_shared_scale(get_biased_exponent(most), 8, top);
        for (int i = 0; i < 32; i++)
            out[i] = quantize_mx_elem(in[i], scale, false, ebits, mbits, top, (RoundingMode)mode);
    }
}
