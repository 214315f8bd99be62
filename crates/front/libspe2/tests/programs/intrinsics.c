/* Every vector intrinsic against a reference that works on big-endian bytes, one at a time, for random inputs. */
#include <spu_intrinsics.h>
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

#define INTEGERS(T, S, U, bytes)                                                              \
    EACH("add ", T, T, bytes, spu_add(va, vb), x + y);                                        \
    EACH("sub ", T, T, bytes, spu_sub(va, vb), x - y);                                        \
    BITS(T, U, bytes)                                                                         \
    EACH("rl ", T, T, bytes, spu_rl(va, (S)vb), rotated(x, y, 8 * bytes));                    \
    EACH("sl ", T, T, bytes, spu_sl(va, (U)vb), shifted(x, y, 8 * bytes));                    \
    EACH("rlmask ", T, T, bytes, spu_rlmask(va, (S)vb), shifted_right(x, -y, 8 * bytes));     \
    EACH("rlmaska ", T, T, bytes, spu_rlmaska(va, (S)vb), shifted_signed(X, -y, 8 * bytes));

#define BITS(T, U, bytes)                                                                     \
    EACH("and ", T, T, bytes, spu_and(va, vb), x & y);                                        \
    EACH("or ", T, T, bytes, spu_or(va, vb), x | y);                                          \
    EACH("xor ", T, T, bytes, spu_xor(va, vb), x ^ y);                                        \
    EACH("andc ", T, T, bytes, spu_andc(va, vb), x & ~y);                                     \
    EACH("orc ", T, T, bytes, spu_orc(va, vb), x | ~y);                                       \
    EACH("nand ", T, T, bytes, spu_nand(va, vb), ~(x & y));                                   \
    EACH("nor ", T, T, bytes, spu_nor(va, vb), ~(x | y));                                     \
    EACH("eqv ", T, T, bytes, spu_eqv(va, vb), ~(x ^ y));                                     \
    EACH("sel ", T, T, bytes, spu_sel(va, vb, (U)vb ^ (U)va), (x & ~(x ^ y)) | (y & (x ^ y)));

#define COMPARES(T, U, bytes, greater)                                                        \
    EACH("cmpeq ", T, U, bytes, spu_cmpeq(va, vb), x == y ? ~0ull : 0);                       \
    EACH("cmpgt ", T, U, bytes, spu_cmpgt(va, vb), (greater) ? ~0ull : 0);                    \
    EACH("cmpgt scalar ", T, U, bytes, spu_cmpgt(va, 5), T##_GREATER(5) ? ~0ull : 0);
#define vec_uchar16_GREATER(n) (x > n)
#define vec_char16_GREATER(n) (X > n)
#define vec_ushort8_GREATER(n) (x > n)
#define vec_short8_GREATER(n) (X > n)
#define vec_uint4_GREATER(n) (x > n)
#define vec_int4_GREATER(n) (X > n)

static u64 rotated(u64 x, u64 count, int bits)
{
    count &= bits - 1;
    return count == 0 ? x : x << count | (x & (~0ull >> (64 - bits))) >> (bits - count);
}

static u64 shifted(u64 x, u64 count, int bits)
{
    count &= 2 * bits - 1;
    return count >= (u64)bits ? 0 : x << count;
}

static u64 shifted_right(u64 x, u64 count, int bits)
{
    count &= 2 * bits - 1;
    return count >= (u64)bits ? 0 : x >> count;
}

static u64 shifted_signed(long long x, u64 count, int bits)
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

static quad shuffled(quad a, quad b, quad pattern)
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

#define QUADS(T, bytes)                                                                       \
    do {                                                                                      \
        T va, vb, got;                                                                        \
        quad a = random_quad(), b = random_quad(), p = random_quad();                         \
        vec_uchar16 pattern;                                                                  \
        int n = (int)random64();                                                              \
        to_vector(&va, a, bytes), to_vector(&vb, b, bytes), to_vector(&pattern, p, 1);        \
        got = spu_shuffle(va, vb, pattern), check("shuffle " #T, &got, bytes, shuffled(a, b, p)); \
        got = spu_slqw(va, n), check("slqw " #T, &got, bytes, moved(a, n & 7, 0));            \
        got = spu_slqwbyte(va, n), check("slqwbyte " #T, &got, bytes, moved(a, (n & 31) * 8, 0)); \
        got = spu_slqwbytebc(va, n), check("slqwbytebc " #T, &got, bytes, moved(a, (n >> 3 & 31) * 8, 0)); \
        got = spu_rlqw(va, n), check("rlqw " #T, &got, bytes, moved(a, n & 7, 1));            \
        got = spu_rlqwbyte(va, n), check("rlqwbyte " #T, &got, bytes, moved(a, (n & 15) * 8, 1)); \
        got = spu_rlqwbytebc(va, n), check("rlqwbytebc " #T, &got, bytes, moved(a, (n >> 3 & 15) * 8, 1)); \
        got = spu_rlmaskqw(va, n), check("rlmaskqw " #T, &got, bytes, moved(a, -(-n & 7), 0)); \
        got = spu_rlmaskqwbyte(va, n), check("rlmaskqwbyte " #T, &got, bytes, moved(a, -((-n & 31) * 8), 0)); \
    } while (0)

/* Odd and even halfwords to words. */
static void halfwords(void)
{
    quad a = random_quad(), b = random_quad(), c = random_quad(), odd, even, odd_u, even_u, high, right, sum, wide;
    vec_short8 va, vb;
    vec_int4 vc, got;
    to_vector(&va, a, 2), to_vector(&vb, b, 2), to_vector(&vc, c, 4);
    for (int i = 0; i < 4; i++) {
        long long ao = element_signed(a, 2, 2 * i + 1), bo = element_signed(b, 2, 2 * i + 1);
        long long ae = element_signed(a, 2, 2 * i), be = element_signed(b, 2, 2 * i);
        set(&odd, 4, i, ao * bo), set(&even, 4, i, ae * be), set(&high, 4, i, (u64)(ae * bo) << 16);
        set(&odd_u, 4, i, (ao & 0xffff) * (bo & 0xffff)), set(&even_u, 4, i, (ae & 0xffff) * (be & 0xffff));
        set(&right, 4, i, (ao * bo) >> 16), set(&sum, 4, i, ao * bo + element(c, 4, i)), set(&wide, 4, i, ao);
    }
    got = spu_mulo(va, vb), check("mulo", &got, 4, odd);
    got = spu_mule(va, vb), check("mule", &got, 4, even);
    got = (vec_int4)spu_mulo((vec_ushort8)va, (vec_ushort8)vb), check("mulo unsigned", &got, 4, odd_u);
    got = (vec_int4)spu_mule((vec_ushort8)va, (vec_ushort8)vb), check("mule unsigned", &got, 4, even_u);
    got = spu_mulh(va, vb), check("mulh", &got, 4, high);
    got = spu_mulsr(va, vb), check("mulsr", &got, 4, right);
    got = spu_madd(va, vb, vc), check("madd", &got, 4, sum);
    got = spu_extend(va), check("extend", &got, 4, wide);
}

static void bytes_and_counts(void)
{
    quad a = random_quad(), b = random_quad(), r = {{0}}, s = {{0}};
    vec_uchar16 va, vb, got;
    vec_uint4 wide;
    vec_ushort8 sums;
    to_vector(&va, a, 1), to_vector(&vb, b, 1);
    for (int i = 0; i < 16; i++)
        r.byte[i] = (u8)((a.byte[i] + b.byte[i] + 1) / 2);
    got = spu_avg(va, vb), check("avg", &got, 1, r);
    for (int i = 0; i < 16; i++)
        r.byte[i] = (u8)(a.byte[i] > b.byte[i] ? a.byte[i] - b.byte[i] : b.byte[i] - a.byte[i]);
    got = spu_absd(va, vb), check("absd", &got, 1, r);
    for (int i = 0; i < 16; i++)
        r.byte[i] = (u8)__builtin_popcount(a.byte[i]);
    got = spu_cntb(va), check("cntb", &got, 1, r);
    for (int i = 0; i < 8; i++) {
        unsigned int sum = 0;
        for (int k = 0; k < 4; k++)
            sum += (i % 2 ? a : b).byte[i / 2 * 4 + k];
        set(&s, 2, i, sum);
    }
    sums = spu_sumb(va, vb), check("sumb", &sums, 2, s);
    memset(&r, 0, 16);
    for (int i = 0; i < 16; i++)
        r.byte[2 + i / 8] |= (a.byte[i] & 1) << (7 - i % 8);
    wide = spu_gather(va), check("gather", &wide, 4, r);
    unsigned int bits = (unsigned int)random64();
    for (int i = 0; i < 16; i++)
        r.byte[i] = bits >> (15 - i) & 1 ? 0xff : 0;
    got = spu_maskb(bits), check("maskb", &got, 1, r);
}

static void elements(void)
{
    quad a = random_quad(), r = a;
    vec_uint4 va, got;
    int at = (int)(random64() % 4);
    unsigned int value = (unsigned int)random64();
    to_vector(&va, a, 4);
    set(&r, 4, at, value);
    got = spu_insert(value, va, at), check("insert", &got, 4, r);
    checks++;
    failures += spu_extract(got, at) != value || spu_extract(spu_promote(value, at), at) != value;
    for (int i = 0; i < 4; i++)
        set(&r, 4, i, value);
    got = spu_splats(value), check("splats", &got, 4, r);
    for (int i = 0; i < 4; i++)
        set(&r, 4, i, element(a, 4, i) ? __builtin_clzll(element(a, 4, i)) - 32 : 32);
    got = spu_cntlz(va), check("cntlz", &got, 4, r);
    memset(&r, 0, 16);
    set(&r, 4, 0, element(a, 4, 0) | element(a, 4, 1) | element(a, 4, 2) | element(a, 4, 3));
    got = spu_orx(va), check("orx", &got, 4, r);
}

static void floats(void)
{
    vec_float4 a, b, c, got;
    vec_int4 whole;
    for (int i = 0; i < 4; i++)
        a[i] = (float)(int)random64(), b[i] = (float)(short)random64(), c[i] = (float)(short)random64();
    got = spu_madd(b, c, a);
    vec_float4 differences = spu_nmsub(b, c, a), products = spu_mul(b, c);
    whole = spu_convts(c, 0);
    vec_float4 back = spu_convtf(whole, 1);
    for (int i = 0; i < 4; i++) {
        double exact = (double)b[i] * c[i] + a[i], other = (double)a[i] - (double)b[i] * c[i];
        double least = 1e-6 * ((double)b[i] * c[i] < 0 ? -(double)b[i] * c[i] : (double)b[i] * c[i]) + 300;
        checks += 4;
        failures += !(got[i] - exact < least && exact - got[i] < least);
        failures += !(differences[i] - other < least && other - differences[i] < least);
        failures += products[i] != (float)((double)b[i] * c[i]) || whole[i] != (int)c[i];
        failures += back[i] != c[i] / 2;
    }
}

int main(void)
{
    for (int round = 0; round < 2000; round++) {
        INTEGERS(vec_ushort8, vec_short8, vec_ushort8, 2)
        INTEGERS(vec_short8, vec_short8, vec_ushort8, 2)
        INTEGERS(vec_uint4, vec_int4, vec_uint4, 4)
        INTEGERS(vec_int4, vec_int4, vec_uint4, 4)
        BITS(vec_uchar16, vec_uchar16, 1)
        BITS(vec_float4, vec_uint4, 4)
        BITS(vec_ullong2, vec_ullong2, 8)
        COMPARES(vec_uchar16, vec_uchar16, 1, x > y)
        COMPARES(vec_char16, vec_uchar16, 1, X > Y)
        COMPARES(vec_ushort8, vec_ushort8, 2, x > y)
        COMPARES(vec_short8, vec_ushort8, 2, X > Y)
        COMPARES(vec_uint4, vec_uint4, 4, x > y)
        COMPARES(vec_int4, vec_uint4, 4, X > Y)
        EACH("addx ", vec_uint4, vec_uint4, 4, spu_addx(va, vb, va), x + y + (x & 1));
        EACH("subx ", vec_uint4, vec_uint4, 4, spu_subx(va, vb, va), x - y - !(x & 1));
        EACH("genc ", vec_uint4, vec_uint4, 4, spu_genc(va, vb), (x + y) >> 32);
        EACH("genb ", vec_uint4, vec_uint4, 4, spu_genb(va, vb), x >= y);
        QUADS(vec_uchar16, 1);
        QUADS(vec_ushort8, 2);
        QUADS(vec_int4, 4);
        QUADS(vec_float4, 4);
        QUADS(vec_ullong2, 8);
        halfwords();
        bytes_and_counts();
        elements();
        floats();
    }
    printf("%u of %u checks failed\n", failures, checks);
    return failures != 0;
}
