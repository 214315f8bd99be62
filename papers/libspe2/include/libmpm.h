/* The SDK's large unsigned numbers, on both processors: arrays of vectors of four words, the most significant word
 * first, with their sizes in vectors. */
#ifndef LIBMPM_H
#define LIBMPM_H

#ifdef __cplusplus
extern "C++" {
#endif

#include <string.h>
#include "vec_types.h"

/* The most vectors of a number. */
#define MPM_MAX_SIZE 32

#define __MPM_INLINE static inline __attribute__((unused))
#define __MPM_WORDS (8 * MPM_MAX_SIZE + 8)

/* A number by words, the least significant first; those above its size are 0. */
typedef struct {
    unsigned int word[__MPM_WORDS];
} __mpm_number;

__MPM_INLINE __mpm_number __mpm_of(const vec_uint4 *from, int size)
{
    __mpm_number found;
    memset(&found, 0, sizeof found);
    for (int at = 0; at < 4 * size; at++)
        found.word[at] = from[size - 1 - at / 4][3 - at % 4];
    return found;
}
__MPM_INLINE void __mpm_to(vec_uint4 *to, int size, const __mpm_number *from)
{
    for (int at = 0; at < 4 * size; at++)
        to[size - 1 - at / 4][3 - at % 4] = from->word[at];
}
__MPM_INLINE int __mpm_length(const __mpm_number *a)
{
    int length = __MPM_WORDS;
    while (length > 0 && a->word[length - 1] == 0)
        length--;
    return length;
}
__MPM_INLINE int __mpm_compare(const __mpm_number *a, const __mpm_number *b)
{
    for (int at = __MPM_WORDS - 1; at >= 0; at--)
        if (a->word[at] != b->word[at])
            return a->word[at] < b->word[at] ? -1 : 1;
    return 0;
}
/* a + b if the sign is 1, and a - b if it is -1. */
__MPM_INLINE __mpm_number __mpm_sum(const __mpm_number *a, const __mpm_number *b, int sign)
{
    __mpm_number found;
    long long carry = 0;
    for (int at = 0; at < __MPM_WORDS; at++) {
        carry += (long long)a->word[at] + sign * (long long)b->word[at];
        found.word[at] = (unsigned int)carry;
        carry >>= 32;
    }
    return found;
}
__MPM_INLINE __mpm_number __mpm_product(const __mpm_number *a, const __mpm_number *b)
{
    __mpm_number found;
    int a_length = __mpm_length(a), b_length = __mpm_length(b);
    memset(&found, 0, sizeof found);
    for (int i = 0; i < a_length; i++) {
        unsigned long long carry = 0;
        for (int j = 0; j < b_length && i + j < __MPM_WORDS; j++) {
            carry += (unsigned long long)a->word[i] * b->word[j] + found.word[i + j];
            found.word[i + j] = (unsigned int)carry;
            carry >>= 32;
        }
        if (i + b_length < __MPM_WORDS)
            found.word[i + b_length] = (unsigned int)carry;
    }
    return found;
}
/* The quotient, with the rest in place of a (Knuth, The Art of Computer Programming, volume 2, algorithm D: here each
 * digit is estimated from the leading 64 bits and corrected). A division by 0 gives 0, and leaves a. */
__MPM_INLINE __mpm_number __mpm_divide(__mpm_number *a, const __mpm_number *b)
{
    __mpm_number quotient;
    int length = __mpm_length(b), shift = length ? __builtin_clz(b->word[length - 1]) : 0;
    unsigned long long top = 0;
    memset(&quotient, 0, sizeof quotient);
    if (length == 0)
        return quotient;
    /* The leading 32 bits of b. */
    top = (unsigned long long)b->word[length - 1] << 32 | (length > 1 ? b->word[length - 2] : 0);
    top = top << shift >> 32;
    for (int at = __mpm_length(a) - length; at >= 0; at--) {
        unsigned int *part = a->word + at;
        unsigned long long high = (unsigned long long)part[length] << 32 | part[length - 1];
        unsigned long long low = length > 1 ? part[length - 2] : 0;
        /* Those of a in the same place: 64 bits from the shifted word above b's. */
        unsigned long long leading = shift ? high << shift | low >> (32 - shift) : high;
        unsigned long long digit = leading / top, carry = 0;
        long long borrow = 0;
        if (digit > 0xffffffffull)
            digit = 0xffffffffull;
        for (int i = 0; i <= length; i++) {
            carry += digit * (i < length ? b->word[i] : 0);
            borrow += (long long)part[i] - (long long)(unsigned int)carry;
            part[i] = (unsigned int)borrow;
            borrow >>= 32, carry >>= 32;
        }
        /* The estimate is never too small, and hardly too large. */
        while (borrow < 0) {
            unsigned long long sum = 0;
            digit--;
            for (int i = 0; i <= length; i++) {
                sum += (unsigned long long)part[i] + (i < length ? b->word[i] : 0);
                part[i] = (unsigned int)sum;
                sum >>= 32;
            }
            borrow += (long long)sum;
        }
        quotient.word[at] = (unsigned int)digit;
    }
    return quotient;
}

/* s = a + b. Returns the size of s: that of the larger one, or one more if the sum needs it. */
__MPM_INLINE int _mpm_add2(vec_uint4 *s, const vec_uint4 *a, int asize, const vec_uint4 *b, int bsize)
{
    __mpm_number first = __mpm_of(a, asize), second = __mpm_of(b, bsize), sum = __mpm_sum(&first, &second, 1);
    int size = asize > bsize ? asize : bsize;
    size += __mpm_length(&sum) > 4 * size;
    __mpm_to(s, size, &sum);
    return size;
}
/* s = a + b word by word; each word of c counts the carries out of that word. */
__MPM_INLINE void _mpm_add_partial(vec_uint4 *s, const vec_uint4 *a, const vec_uint4 *b, vec_uint4 *c, int size)
{
    for (int at = 0; at < size; at++) {
        vec_uint4 sum = a[at] + b[at];
        c[at] -= (vec_uint4)(sum < a[at]);
        s[at] = sum;
    }
}
/* s = a - b, of a's size. */
__MPM_INLINE void _mpm_sub2(vec_uint4 *s, const vec_uint4 *a, int asize, const vec_uint4 *b, int bsize)
{
    __mpm_number first = __mpm_of(a, asize), second = __mpm_of(b, bsize), rest = __mpm_sum(&first, &second, -1);
    __mpm_to(s, asize, &rest);
}
/* p = a * b, of both sizes together. */
__MPM_INLINE void _mpm_mul(vec_uint4 *p, const vec_uint4 *a, int asize, const vec_uint4 *b, int bsize)
{
    __mpm_number first = __mpm_of(a, asize), second = __mpm_of(b, bsize), product = __mpm_product(&first, &second);
    __mpm_to(p, asize + bsize, &product);
}
/* q = a / b, of a's size, and r = a % b, of b's. */
__MPM_INLINE void _mpm_div(vec_uint4 *q, vec_uint4 *r, const vec_uint4 *a, int asize, const vec_uint4 *b, int bsize)
{
    __mpm_number rest = __mpm_of(a, asize), divisor = __mpm_of(b, bsize), quotient = __mpm_divide(&rest, &divisor);
    __mpm_to(q, asize, &quotient);
    __mpm_to(r, bsize, &rest);
}
/* m = a % b, of b's size. */
__MPM_INLINE void _mpm_mod(vec_uint4 *m, const vec_uint4 *a, int asize, const vec_uint4 *b, int bsize)
{
    __mpm_number rest = __mpm_of(a, asize), divisor = __mpm_of(b, bsize);
    (void)__mpm_divide(&rest, &divisor);
    __mpm_to(m, bsize, &rest);
}
/* Comparisons: all bits if they hold, otherwise 0. */
__MPM_INLINE unsigned int _mpm_cmpeq2(const vec_uint4 *a, int asize, const vec_uint4 *b, int bsize)
{
    __mpm_number first = __mpm_of(a, asize), second = __mpm_of(b, bsize);
    return __mpm_compare(&first, &second) == 0 ? ~0u : 0;
}
__MPM_INLINE unsigned int _mpm_cmpgt(const vec_uint4 *a, const vec_uint4 *b, int size)
{
    __mpm_number first = __mpm_of(a, size), second = __mpm_of(b, size);
    return __mpm_compare(&first, &second) > 0 ? ~0u : 0;
}
/* c = b to the power of e, modulo m; b and c have m's size. The window's size k has no effect here. */
__MPM_INLINE void _mpm_mod_exp(vec_uint4 *c, const vec_uint4 *b, const vec_uint4 *e, int esize, const vec_uint4 *m, int msize,
    int k)
{
    __mpm_number power = __mpm_of(b, msize), exponent = __mpm_of(e, esize), modulus = __mpm_of(m, msize), found;
    memset(&found, 0, sizeof found);
    found.word[0] = 1;
    (void)k, (void)__mpm_divide(&power, &modulus), (void)__mpm_divide(&found, &modulus);
    for (int bit = 32 * __mpm_length(&exponent) - 1; bit >= 0; bit--) {
        found = __mpm_product(&found, &found);
        (void)__mpm_divide(&found, &modulus);
        if (exponent.word[bit / 32] >> bit % 32 & 1) {
            found = __mpm_product(&found, &power);
            (void)__mpm_divide(&found, &modulus);
        }
    }
    __mpm_to(c, msize, &found);
}
/* mi = the inverse of b modulo a, of a's size, by Euclid's algorithm; 0 if there is none. */
__MPM_INLINE void _mpm_mul_inv2(vec_uint4 *mi, const vec_uint4 *a, int asize, const vec_uint4 *b, int bsize)
{
    __mpm_number modulus = __mpm_of(a, asize), rest = modulus, divisor = __mpm_of(b, bsize), before, found;
    memset(&before, 0, sizeof before), found = before;
    found.word[0] = 1;
    (void)__mpm_divide(&divisor, &modulus);
    while (__mpm_length(&divisor) > 0) {
        __mpm_number quotient = __mpm_divide(&rest, &divisor), swapped = rest, taken = __mpm_product(&quotient, &found), next;
        rest = divisor, divisor = swapped;
        (void)__mpm_divide(&taken, &modulus);
        next = __mpm_compare(&before, &taken) < 0 ? __mpm_sum(&before, &modulus, 1) : before;
        next = __mpm_sum(&next, &taken, -1);
        before = found, found = next;
    }
    if (__mpm_length(&rest) != 1 || rest.word[0] != 1)
        memset(&before, 0, sizeof before);
    __mpm_to(mi, asize, &before);
}

#define mpm_add2(s, a, asize, b, bsize) _mpm_add2(s, a, asize, b, bsize)
#define mpm_add_partial(s, a, b, c, size) _mpm_add_partial(s, a, b, c, size)
#define mpm_sub2(s, a, asize, b, bsize) _mpm_sub2(s, a, asize, b, bsize)
#define mpm_mul(p, a, asize, b, bsize) _mpm_mul(p, a, asize, b, bsize)
#define mpm_div(q, r, a, asize, b, bsize) _mpm_div(q, r, a, asize, b, bsize)
#define mpm_mod(m, a, asize, b, bsize) _mpm_mod(m, a, asize, b, bsize)
#define mpm_cmpeq2(a, asize, b, bsize) _mpm_cmpeq2(a, asize, b, bsize)
#define mpm_cmpgt(a, b, size) _mpm_cmpgt(a, b, size)
#define mpm_mod_exp(c, b, e, esize, m, msize, k) _mpm_mod_exp(c, b, e, esize, m, msize, k)
#define mpm_mul_inv2(mi, a, asize, b, bsize) _mpm_mul_inv2(mi, a, asize, b, bsize)

#ifdef __cplusplus
}
#endif

#endif
