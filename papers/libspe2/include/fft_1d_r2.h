/* The Fourier transform of the SDK's FFT library: complex numbers, two in each vector, and a table of the roots. */
#ifndef FFT_1D_R2_H
#define FFT_1D_R2_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "vec_types.h"

#define MAX_FFT_1D_SIZE 8192

/* Transforms 2 to the power of log2_size numbers by radix 2, decimation in time; `out` may be `in`. Element i of W, of a
 * quarter as many, is the root (cos(2 pi i / n), -sin(2 pi i / n)). */
static inline __attribute__((unused)) void _fft_1d_r2(vec_float4 *out, vec_float4 *in, vec_float4 *W, int log2_size)
{
    const unsigned int size = 1u << log2_size, quarter = size / 4;
    const float *from = (const float *)in, *roots = (const float *)W;
    float *to = (float *)out;
    float real[MAX_FFT_1D_SIZE], imaginary[MAX_FFT_1D_SIZE];
    for (unsigned int at = 0; at < size; at++) {
        unsigned int reversed = 0;
        for (int bit = 0; bit < log2_size; bit++)
            reversed |= (at >> bit & 1) << (log2_size - 1 - bit);
        real[reversed] = from[2 * at], imaginary[reversed] = from[2 * at + 1];
    }
    for (unsigned int half = 1; half < size; half *= 2) {
        for (unsigned int at = 0; at < half; at++) {
            /* The second quarter of the roots are those of the first, a right angle further. */
            unsigned int root = at * (size / 2 / half), within = root < quarter ? root : root - quarter;
            float cosine = roots[2 * within], sine = roots[2 * within + 1];
            if (root >= quarter) {
                float turned = cosine;
                cosine = sine, sine = -turned;
            }
            for (unsigned int first = at; first < size; first += 2 * half) {
                unsigned int second = first + half;
                float r = real[second] * cosine - imaginary[second] * sine;
                float i = real[second] * sine + imaginary[second] * cosine;
                real[second] = real[first] - r, imaginary[second] = imaginary[first] - i;
                real[first] += r, imaginary[first] += i;
            }
        }
    }
    for (unsigned int at = 0; at < size; at++)
        to[2 * at] = real[at], to[2 * at + 1] = imaginary[at];
}

#define fft_1d_r2(out, in, W, log2_size) _fft_1d_r2(out, in, W, log2_size)

#ifdef __cplusplus
}
#endif

#endif
