/* Every generic vector intrinsic against a reference. */
#include "reference.h"

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
        got = spu_rlmaskqwbytebc(va, n), check("rlmaskqwbytebc " #T, &got, bytes, moved(a, -((-(n >> 3) & 31) * 8), 0)); \
        got = spu_srqw(va, n), check("srqw " #T, &got, bytes, moved(a, -(n & 7), 0));         \
        got = spu_srqwbyte(va, n), check("srqwbyte " #T, &got, bytes, moved(a, -((n & 31) * 8), 0)); \
        got = spu_srqwbytebc(va, n), check("srqwbytebc " #T, &got, bytes, moved(a, -((n >> 3 & 31) * 8), 0)); \
        got = spu_rlmaskqwbyte(va, n), check("rlmaskqwbyte " #T, &got, bytes, moved(a, -((-n & 31) * 8), 0)); \
    } while (0)

/* Odd and even halfwords to words. */
static void halfwords(void)
{
    quad a = random_quad(), b = random_quad(), c = random_quad(), odd, even, odd_u, even_u, high, right, sum, wide;
    quad sum_high, zero = {{0}};
    vec_short8 va, vb;
    vec_int4 vc, got;
    to_vector(&va, a, 2), to_vector(&vb, b, 2), to_vector(&vc, c, 4);
    for (int i = 0; i < 4; i++) {
        long long ao = element_signed(a, 2, 2 * i + 1), bo = element_signed(b, 2, 2 * i + 1);
        long long ae = element_signed(a, 2, 2 * i), be = element_signed(b, 2, 2 * i);
        set(&odd, 4, i, ao * bo), set(&even, 4, i, ae * be), set(&high, 4, i, (u64)(ae * bo) << 16);
        set(&odd_u, 4, i, (ao & 0xffff) * (bo & 0xffff)), set(&even_u, 4, i, (ae & 0xffff) * (be & 0xffff));
        set(&sum_high, 4, i, ae * be + element(c, 4, i));
        set(&right, 4, i, (ao * bo) >> 16), set(&sum, 4, i, ao * bo + element(c, 4, i)), set(&wide, 4, i, ao);
    }
    got = spu_mulo(va, vb), check("mulo", &got, 4, odd);
    got = spu_mule(va, vb), check("mule", &got, 4, even);
    got = (vec_int4)spu_mulo((vec_ushort8)va, (vec_ushort8)vb), check("mulo unsigned", &got, 4, odd_u);
    got = (vec_int4)spu_mule((vec_ushort8)va, (vec_ushort8)vb), check("mule unsigned", &got, 4, even_u);
    got = spu_mulh(va, vb), check("mulh", &got, 4, high);
    got = spu_mulhh(va, vb), check("mulhh", &got, 4, even);
    got = (vec_int4)spu_mulhh((vec_ushort8)va, (vec_ushort8)vb), check("mulhh unsigned", &got, 4, even_u);
    got = spu_mulo(va, (short)-3) - spu_mulo(va, spu_splats((short)-3)), check("mulo scalar", &got, 4, zero);
    got = spu_mhhadd(va, vb, vc), check("mhhadd", &got, 4, sum_high);
    got = spu_mulsr(va, vb), check("mulsr", &got, 4, right);
    got = spu_madd(va, vb, vc), check("madd", &got, 4, sum);
    got = spu_extend(va), check("extend", &got, 4, wide);
}

/* The lowest bits of halfwords and of words. */
static void gathered(quad a)
{
    vec_ushort8 halves;
    vec_float4 words;
    vec_uint4 got;
    u64 of_halves = 0, of_words = 0;
    quad r = {{0}};
    to_vector(&halves, a, 2), to_vector(&words, a, 4);
    for (int i = 0; i < 8; i++)
        of_halves = of_halves << 1 | (element(a, 2, i) & 1);
    for (int i = 0; i < 4; i++)
        of_words = of_words << 1 | (element(a, 4, i) & 1);
    set(&r, 4, 0, of_halves), got = spu_gather(halves), check("gather halves", &got, 4, r);
    set(&r, 4, 0, of_words), got = spu_gather(words), check("gather words", &got, 4, r);
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
    gathered(a);
    unsigned int bits = (unsigned int)random64();
    for (int i = 0; i < 16; i++)
        r.byte[i] = bits >> (15 - i) & 1 ? 0xff : 0;
    got = spu_maskb((unsigned short)bits), check("maskb", &got, 1, r);
    for (int i = 0; i < 8; i++)
        set(&r, 2, i, bits >> (7 - i) & 1 ? 0xffff : 0);
    sums = spu_maskh((unsigned char)bits), check("maskh", &sums, 2, r);
    for (int i = 0; i < 4; i++)
        set(&r, 4, i, bits >> (3 - i) & 1 ? 0xffffffff : 0);
    wide = spu_maskw((unsigned char)(bits & 15)), check("maskw", &wide, 4, r);
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

/* Numbers of other widths, and both kinds of comparison by magnitude. */
static void conversions(void)
{
    quad a = random_quad(), r;
    vec_char16 bytes;
    vec_int4 words;
    vec_short8 halves;
    vec_llong2 doubles;
    to_vector(&bytes, a, 1), to_vector(&words, a, 4);
    for (int i = 0; i < 8; i++)
        set(&r, 2, i, (u64)element_signed(a, 1, 2 * i + 1));
    halves = spu_extend(bytes), check("extend bytes", &halves, 2, r);
    for (int i = 0; i < 2; i++)
        set(&r, 8, i, (u64)element_signed(a, 4, 2 * i + 1));
    doubles = spu_extend(words), check("extend words", &doubles, 8, r);

    static const float values[] = {0, -0.0f, 1.5f, -2.75f, 3e9f, -3e9f, 5e9f, -5e9f, 2147483648.0f, 4294967040.0f, 1e20f};
    vec_float4 f, g;
    for (int i = 0; i < 4; i++)
        f[i] = values[random64() % 11], g[i] = values[random64() % 11];
    vec_int4 towards_zero = spu_convts(f, 1);
    vec_uint4 not_negative = spu_convtu(f, 1), equal = spu_cmpabseq(f, g), greater = spu_cmpabsgt(f, g);
    vec_float4 again = spu_convtf(not_negative, 1);
    for (int i = 0; i < 4; i++) {
        double twice = 2.0 * f[i], m = f[i] < 0 ? -f[i] : f[i], n = g[i] < 0 ? -g[i] : g[i];
        long long bounded = twice > 2147483647.0 ? 2147483647 : twice < -2147483648.0 ? -2147483648ll : (long long)twice;
        u64 unsigned_bounded = twice > 4294967295.0 ? 4294967295u : twice < 0 ? 0 : (u64)twice;
        checks += 5;
        failures += towards_zero[i] != bounded || not_negative[i] != unsigned_bounded;
        failures += equal[i] != (m == n ? ~0u : 0) || greater[i] != (m > n ? ~0u : 0);
        failures += again[i] != (float)unsigned_bounded / 2;
    }
    vec_double2 wide = spu_extend(f);
    vec_float4 narrow = spu_roundtf(wide), one = spu_re(f), root = spu_rsqrte(f);
    for (int i = 0; i < 4; i++) {
        float magnitude = f[i] < 0 ? -f[i] : f[i];
        checks += 3;
        failures += (i % 2 == 0 && (wide[i / 2] != f[i] || narrow[i] != f[i])) || (i % 2 == 1 && narrow[i] != 0);
        failures += f[i] == 0 ? one[i] * one[i] < 1e38f : one[i] != 1 / f[i];
        failures += magnitude == 0 ? root[i] < 1e38f : root[i] != 1 / __builtin_sqrtf(magnitude);
    }
}

/* The kinds of numbers that spu_testsv knows. */
static void kinds(void)
{
    static const struct {
        double value;
        unsigned int kind;
    } known[] = {{0.0, SPU_SV_POS_ZERO},
                 {-0.0, SPU_SV_NEG_ZERO},
                 {1e-310, SPU_SV_POS_DENORM},
                 {-1e-310, SPU_SV_NEG_DENORM},
                 {__builtin_inf(), SPU_SV_POS_INFINITY},
                 {-__builtin_inf(), SPU_SV_NEG_INFINITY},
                 {__builtin_nan(""), SPU_SV_NAN},
                 {-__builtin_nan(""), SPU_SV_NAN},
                 {1.0, 0},
                 {-1e-300, 0}};
    for (unsigned int at = 0; at < sizeof known / sizeof *known; at++) {
        vec_double2 v = {known[at].value, 1.0};
        for (unsigned int bit = 1; bit < 0x80; bit <<= 1) {
            vec_ullong2 found = spu_testsv(v, bit);
            checks++;
            failures += found[0] != (bit == known[at].kind ? ~0ull : 0) || found[1] != 0;
        }
    }
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
        EACH("gencx ", vec_uint4, vec_uint4, 4, spu_gencx(va, vb, ~va), (x + y + !(x & 1)) >> 32);
        EACH("genbx ", vec_uint4, vec_uint4, 4, spu_genbx(va, vb, va), (x & 1) ? x >= y : x > y);
        EACH("sr ", vec_uint4, vec_uint4, 4, spu_sr(va, vb), shifted_right(x, y, 32));
        EACH("sr ", vec_ushort8, vec_ushort8, 2, spu_sr(va, vb), shifted_right(x, y, 16));
        EACH("sra ", vec_int4, vec_int4, 4, spu_sra(va, vb), shifted_signed(X, y, 32));
        EACH("sra ", vec_short8, vec_short8, 2, spu_sra(va, vb), shifted_signed(X, y, 16));
        EACH("sl scalar ", vec_uint4, vec_uint4, 4, spu_sl(va, 5u), x << 5);
        EACH("rlmask scalar ", vec_uint4, vec_uint4, 4, spu_rlmask(va, -7), x >> 7);
        EACH("sub from a scalar ", vec_int4, vec_int4, 4, spu_sub(77, va), 77 - x);
        EACH("sub a scalar ", vec_short8, vec_short8, 2, spu_sub(va, (short)77), x - 77);
        EACH("add a scalar ", vec_ushort8, vec_ushort8, 2, spu_add(va, (unsigned short)77), x + 77);
        QUADS(vec_uchar16, 1);
        QUADS(vec_ushort8, 2);
        QUADS(vec_int4, 4);
        QUADS(vec_float4, 4);
        QUADS(vec_ullong2, 8);
        halfwords();
        bytes_and_counts();
        elements();
        floats();
        conversions();
    }
    kinds();
    printf("%u of %u checks failed\n", failures, checks);
    return failures != 0;
}
