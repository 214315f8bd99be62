/* A reference for vector intrinsics that works on big-endian bytes, one at a time, for random inputs. */
#ifdef __SPU__
#include <spu_intrinsics.h>
#else
#include <altivec.h>
#endif
#include <stdio.h>
#include <string.h>

typedef unsigned char u8;
typedef unsigned long long u64;

static u64 seed = 88172645463325252ull;
static unsigned int failures, checks;

static u64 random64(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

/* A quadword as the SPU has it: 16 bytes, the most significant of element 0 first. */
typedef struct quad {
    u8 byte[16];
} quad;

static quad random_quad(void)
{
    quad q;
    for (int i = 0; i < 16; i++)
        q.byte[i] = random64() % 8 ? (u8)random64() : (random64() & 1 ? 0xff : 0);
    return q;
}

/* Elements of a quadword as numbers, and back. */
static u64 element(quad q, int bytes, int at)
{
    u64 value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | q.byte[at * bytes + i];
    return value;
}

static long long element_signed(quad q, int bytes, int at)
{
    return (long long)(element(q, bytes, at) << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

static void set(quad *q, int bytes, int at, u64 value)
{
    for (int i = bytes; i-- > 0; value >>= 8)
        q->byte[at * bytes + i] = (u8)value;
}

/* A vector of this computer, by its elements' size, and back. */
static void to_vector(void *vector_out, quad q, int bytes)
{
    for (int at = 0; at < 16 / bytes; at++) {
        u64 value = element(q, bytes, at);
        memcpy((u8 *)vector_out + at * bytes, &value, bytes);
    }
}

static quad of_vector(const void *from, int bytes)
{
    quad q;
    for (int at = 0; at < 16 / bytes; at++) {
        u64 value = 0;
        memcpy(&value, (const u8 *)from + at * bytes, bytes);
        set(&q, bytes, at, value);
    }
    return q;
}

static void check(const char *name, const void *got, int bytes, quad expected)
{
    quad q = of_vector(got, bytes);
    checks++;
    if (memcmp(&q, &expected, 16) == 0)
        return;
    if (failures++ < 20) {
        printf("%s:", name);
        for (int i = 0; i < 16; i++)
            printf(" %02x", q.byte[i]);
        printf(", expected");
        for (int i = 0; i < 16; i++)
            printf(" %02x", expected.byte[i]);
        printf("\n");
    }
}

/* An intrinsic of two vectors, element by element; x and y are the elements, X and Y signed. */
#define EACH(name, T, R, bytes, expression, reference)                        \
    do {                                                                      \
        T va, vb;                                                             \
        quad a = random_quad(), b = random_quad(), r;                         \
        to_vector(&va, a, bytes), to_vector(&vb, b, bytes);                   \
        for (int i = 0; i < 16 / bytes; i++) {                                \
            u64 x = element(a, bytes, i), y = element(b, bytes, i);           \
            long long X = element_signed(a, bytes, i), Y = element_signed(b, bytes, i); \
            (void)x, (void)y, (void)X, (void)Y;                               \
            set(&r, bytes, i, (u64)(reference));                              \
        }                                                                     \
        R got = (R)(expression);                                              \
        check(name #T, &got, bytes, r);                                       \
    } while (0)

static __attribute__((unused)) u64 rotated(u64 x, u64 count, int bits)
{
    count &= bits - 1;
    return count == 0 ? x : x << count | (x & (~0ull >> (64 - bits))) >> (bits - count);
}

static __attribute__((unused)) u64 shifted(u64 x, u64 count, int bits)
{
    count &= 2 * bits - 1;
    return count >= (u64)bits ? 0 : x << count;
}

static __attribute__((unused)) u64 shifted_right(u64 x, u64 count, int bits)
{
    count &= 2 * bits - 1;
    return count >= (u64)bits ? 0 : x >> count;
}

static __attribute__((unused)) u64 shifted_signed(long long x, u64 count, int bits)
{
    count &= 2 * bits - 1;
    return (u64)(x >> (count >= (u64)bits ? (u64)bits - 1 : count));
}

/* Bits of the whole quadword, moved one at a time: to the left, without or with what leaves coming in again. */
static quad moved(quad q, int bits, int rotates)
{
    quad r = {{0}};
    for (int to = 0; to < 128; to++) {
        int from = to + bits;
        if (rotates)
            from = (from % 128 + 128) % 128;
        if (from >= 0 && from < 128 && q.byte[from / 8] >> (7 - from % 8) & 1)
            r.byte[to / 8] |= 0x80 >> to % 8;
    }
    return r;
}

static __attribute__((unused)) quad shuffled(quad a, quad b, quad pattern)
{
    quad r;
    for (int i = 0; i < 16; i++) {
        u8 p = pattern.byte[i];
        r.byte[i] = (p & 0xc0) == 0x80   ? 0
                    : (p & 0xe0) == 0xc0 ? 0xff
                    : (p & 0xe0) == 0xe0 ? 0x80
                    : (p & 16)           ? b.byte[p & 15]
                                         : a.byte[p & 15];
    }
    return r;
}
