/* The PPE's vector intrinsics against a reference that works on big-endian bytes, one element at a time. */
#include "reference.h"

static long long bounded(long long x, long long least, long long most)
{
    return x < least ? least : x > most ? most : x;
}

#define EXPECT(condition) (checks++, failures += !(condition) ? (printf("line %d: %s\n", __LINE__, #condition), 1) : 0)

/* Element by element; 'least' and 'most' are the bounds, x and y the elements with the sign of their type. */
#define INTEGERS(T, U, bytes, x, y, least, most)                                                  \
    EACH("add ", T, T, bytes, vec_add(va, vb), x + y);                                            \
    EACH("sub ", T, T, bytes, vec_sub(va, vb), x - y);                                            \
    EACH("add of truth values ", T, T, bytes, vec_add(vec_cmpgt(va, vb), vb), (x > y ? -1 : 0) + y); \
    EACH("adds ", T, T, bytes, vec_adds(va, vb), bounded((long long)x + (long long)y, least, most)); \
    EACH("subs ", T, T, bytes, vec_subs(va, vb), bounded((long long)x - (long long)y, least, most)); \
    EACH("avg ", T, T, bytes, vec_avg(va, vb), ((long long)x + (long long)y + 1) >> 1);           \
    EACH("max ", T, T, bytes, vec_max(va, vb), x > y ? x : y);                                    \
    EACH("min ", T, T, bytes, vec_min(va, vb), x < y ? x : y);                                    \
    EACH("cmpeq ", T, U, bytes, vec_cmpeq(va, vb), x == y ? -1 : 0);                              \
    EACH("cmpgt ", T, U, bytes, vec_cmpgt(va, vb), x > y ? -1 : 0);                               \
    EACH("cmplt ", T, U, bytes, vec_cmplt(va, vb), x < y ? -1 : 0);                               \
    EACH("sl ", T, T, bytes, vec_sl(va, (U)vb), shifted((u64)x, (u64)y % (8 * bytes), 8 * bytes)); \
    EACH("sr ", T, T, bytes, vec_sr(va, (U)vb), element(a, bytes, i) >> ((u64)y % (8 * bytes)));  \
    EACH("sra ", T, T, bytes, vec_sra(va, (U)vb), X >> ((u64)y % (8 * bytes)));                   \
    EACH("rl ", T, T, bytes, vec_rl(va, (U)vb), rotated(element(a, bytes, i), (u64)y, 8 * bytes)); \
    PREDICATES(T, bytes)                                                                          \
    MOVES(T, bytes)

#define MOVES(T, bytes)                                                                           \
    do {                                                                                          \
        quad a = random_quad(), b = random_quad(), p = random_quad(), r;                          \
        T va, vb, got;                                                                            \
        vec_uchar16 vp, counts;                                                                   \
        unsigned int n = (unsigned int)(random64() % 16);                                         \
        to_vector(&va, a, bytes), to_vector(&vb, b, bytes);                                       \
        for (int i = 0; i < 16; i++)                                                              \
            r.byte[i] = p.byte[i] & 16 ? b.byte[p.byte[i] & 15] : a.byte[p.byte[i] & 15];         \
        to_vector(&vp, p, 1), got = vec_perm(va, vb, vp), check("perm " #T, &got, bytes, r);      \
        for (unsigned int i = 0; i < 16; i++)                                                     \
            r.byte[i] = i + n < 16 ? a.byte[i + n] : b.byte[i + n - 16];                          \
        got = vec_sld(va, vb, n), check("sld " #T, &got, bytes, r);                               \
        for (int i = 0; i < 16; i++)                                                              \
            counts[i] = (unsigned char)p.byte[15];                                                \
        got = vec_sll(va, counts), check("sll " #T, &got, bytes, moved(a, p.byte[15] & 7, 0));    \
        got = vec_srl(va, counts), check("srl " #T, &got, bytes, moved(a, -(p.byte[15] & 7), 0)); \
        got = vec_slo(va, counts), check("slo " #T, &got, bytes, moved(a, p.byte[15] & 0x78, 0)); \
        got = vec_sro(va, counts), check("sro " #T, &got, bytes, moved(a, -(p.byte[15] & 0x78), 0)); \
        for (int i = 0; i < 16 / bytes; i++)                                                      \
            set(&r, bytes, i, element(i % 2 ? b : a, bytes, i / 2));                              \
        got = vec_mergeh(va, vb), check("mergeh " #T, &got, bytes, r);                            \
        for (int i = 0; i < 16 / bytes; i++)                                                      \
            set(&r, bytes, i, element(i % 2 ? b : a, bytes, 8 / bytes + i / 2));                  \
        got = vec_mergel(va, vb), check("mergel " #T, &got, bytes, r);                            \
        for (int i = 0; i < 16 / bytes; i++)                                                      \
            set(&r, bytes, i, element(a, bytes, (int)n % (16 / bytes)));                          \
        got = vec_splat(va, n), check("splat " #T, &got, bytes, r);                               \
        got = vec_splats(va[n % (16 / bytes)]), check("splats " #T, &got, bytes, r);              \
        r = a, set(&r, bytes, (int)n % (16 / bytes), element(b, bytes, 0));                       \
        got = vec_insert(vec_extract(vb, 0), va, n), check("insert " #T, &got, bytes, r);         \
        EXPECT(vec_extract(vec_promote(va[0], n), n) == va[0] || va[0] != va[0]);                 \
        fill(&va);                                                                                \
        MEMORY(T, bytes)                                                                          \
    } while (0);

/* Bytes of the quadword at an address, by elements, which keep their order. */
static unsigned char place[48] __attribute__((aligned(16)));
static void fill(const void *from)
{
    for (int i = 0; i < 48; i++)
        place[i] = (unsigned char)random64();
    memcpy(place + 16, from, 16);
}
#define MEMORY(T, bytes)                                                                          \
    {                                                                                             \
        unsigned int at = n / bytes * bytes;                                                      \
        unsigned char *base = place + 16, before[48], kept[16];                                   \
        T *quads = (T *)base;                                                                     \
        memcpy(before, place, 48);                                                                \
        got = vec_ld((int)n, quads), EXPECT(memcmp(&got, base, 16) == 0);                         \
        got = vec_ldl((int)n, quads), EXPECT(memcmp(&got, base, 16) == 0);                        \
        got = vec_lvlx((int)at, quads), EXPECT(memcmp(&got, base + at, 16 - at) == 0);            \
        memset(kept, 0, 16), EXPECT(memcmp((char *)&got + 16 - at, kept, at) == 0);               \
        got = vec_lvrx((int)at, quads), EXPECT(memcmp((char *)&got + 16 - at, base, at) == 0);    \
        EXPECT(memcmp(&got, kept, 16 - at) == 0);                                                 \
        got = vec_or(vec_lvlx((int)at, quads), vec_lvrx((int)at + 16, quads));                    \
        EXPECT(memcmp(&got, base + at, 16) == 0);                                                 \
        vec_st(vb, (int)n, quads), EXPECT(memcmp(base, &vb, 16) == 0), memcpy(place, before, 48); \
        vec_stvlx(vb, (int)at, quads), EXPECT(memcmp(base + at, &vb, 16 - at) == 0);              \
        EXPECT(memcmp(place, before, 16 + at) == 0 && memcmp(place + 32, before + 32, 16) == 0);  \
        memcpy(place, before, 48), vec_stvrx(vb, (int)at, quads);                                 \
        EXPECT(memcmp(base, (char *)&vb + 16 - at, at) == 0);                                     \
        EXPECT(memcmp(base + at, before + 16 + at, 16 - at) == 0), memcpy(place, before, 48);     \
    }

#define PREDICATES(T, bytes)                                                                      \
    do {                                                                                          \
        T va, vb;                                                                                 \
        int eq = 0, gt = 0, lt = 0, all = 16 / bytes;                                             \
        quad a = random_quad(), b = random64() % 3 ? random_quad() : a;                           \
        if (random64() % 2)                                                                       \
            memset(&b, random64() % 2 ? 0 : 0x7f, 16);                                            \
        to_vector(&va, a, bytes), to_vector(&vb, b, bytes);                                       \
        for (int i = 0; i < all; i++)                                                             \
            eq += va[i] == vb[i], gt += va[i] > vb[i], lt += va[i] < vb[i];                       \
        EXPECT(vec_all_eq(va, vb) == (eq == all) && vec_any_eq(va, vb) == (eq > 0));              \
        EXPECT(vec_all_ne(va, vb) == (eq == 0) && vec_any_ne(va, vb) == (eq < all));              \
        EXPECT(vec_all_gt(va, vb) == (gt == all) && vec_any_gt(va, vb) == (gt > 0));              \
        EXPECT(vec_all_lt(va, vb) == (lt == all) && vec_any_lt(va, vb) == (lt > 0));              \
        EXPECT(vec_all_ge(va, vb) == (gt + eq == all) && vec_any_ge(va, vb) == (gt + eq > 0));    \
        EXPECT(vec_all_le(va, vb) == (lt + eq == all) && vec_any_le(va, vb) == (lt + eq > 0));    \
    } while (0);

#define BITS(T, bytes)                                                                            \
    EACH("and ", T, T, bytes, vec_and(va, vb), x & y);                                            \
    EACH("or ", T, T, bytes, vec_or(va, vb), x | y);                                              \
    EACH("xor ", T, T, bytes, vec_xor(va, vb), x ^ y);                                            \
    EACH("andc ", T, T, bytes, vec_andc(va, vb), x & ~y);                                         \
    EACH("nor ", T, T, bytes, vec_nor(va, vb), ~(x | y));                                         \
    EACH("sel ", T, T, bytes, vec_sel(va, vb, va), (x & ~x) | (y & x));

/* Elements of half and of twice the width. */
#define WIDTHS(T, R, bytes, extract, least, most, name)                                           \
    do {                                                                                          \
        T va, vb;                                                                                 \
        quad a = random_quad(), b = random_quad(), r;                                             \
        to_vector(&va, a, bytes), to_vector(&vb, b, bytes);                                       \
        for (int i = 0; i < 32 / bytes; i++)                                                      \
            set(&r, bytes / 2, i,                                                                 \
                (u64)bounded((long long)extract(i < 16 / bytes ? a : b, bytes, i % (16 / bytes)), least, most)); \
        R got = name(va, vb);                                                                     \
        check(#name #T, &got, bytes / 2, r);                                                      \
    } while (0)
#define ANY -(1ll << 62), 1ll << 62
#define CALL(macro, ...) macro(__VA_ARGS__)

#define UNPACKED(T, R, bytes)                                                                     \
    do {                                                                                          \
        T va;                                                                                     \
        quad a = random_quad(), high, low;                                                        \
        to_vector(&va, a, bytes);                                                                 \
        for (int i = 0; i < 8 / bytes; i++) {                                                     \
            set(&high, 2 * bytes, i, (u64)element_signed(a, bytes, i));                           \
            set(&low, 2 * bytes, i, (u64)element_signed(a, bytes, i + 8 / bytes));                \
        }                                                                                         \
        R first = vec_unpackh(va), last = vec_unpackl(va);                                        \
        check("unpackh " #T, &first, 2 * bytes, high), check("unpackl " #T, &last, 2 * bytes, low); \
    } while (0)

#define PRODUCTS(T, R, bytes, extract)                                                            \
    do {                                                                                          \
        T va, vb;                                                                                 \
        quad a = random_quad(), b = random_quad(), even, odd;                                     \
        to_vector(&va, a, bytes), to_vector(&vb, b, bytes);                                       \
        for (int i = 0; i < 8 / bytes; i++) {                                                     \
            set(&even, 2 * bytes, i, (u64)extract(a, bytes, 2 * i) * (u64)extract(b, bytes, 2 * i)); \
            set(&odd, 2 * bytes, i, (u64)extract(a, bytes, 2 * i + 1) * (u64)extract(b, bytes, 2 * i + 1)); \
        }                                                                                         \
        R e = vec_mule(va, vb), o = vec_mulo(va, vb);                                             \
        check("mule " #T, &e, 2 * bytes, even), check("mulo " #T, &o, 2 * bytes, odd);            \
    } while (0)

/* Sums of products within each word. */
#define PRODUCT_SUMS(A, B, R, bytes, left, right, name, sum_of, least, most)                      \
    do {                                                                                          \
        A va;                                                                                     \
        B vb;                                                                                     \
        R vc;                                                                                     \
        quad a = random_quad(), b = random_quad(), c = random_quad(), r;                          \
        to_vector(&va, a, bytes), to_vector(&vb, b, bytes), to_vector(&vc, c, 4);                 \
        for (int i = 0; i < 4; i++) {                                                             \
            long long sum = (long long)sum_of(c, 4, i);                                           \
            for (int k = i * 4 / bytes; k < (i + 1) * 4 / bytes; k++)                             \
                sum += (long long)left(a, bytes, k) * (long long)right(b, bytes, k);              \
            set(&r, 4, i, (u64)bounded(sum, least, most));                                        \
        }                                                                                         \
        R got = name(va, vb, vc);                                                                 \
        check(#name #A, &got, 4, r);                                                              \
    } while (0)
#define SUMS(A, R, bytes, each, sum_of, least, most)                                              \
    do {                                                                                          \
        A va;                                                                                     \
        R vc;                                                                                     \
        quad a = random_quad(), c = random_quad(), r;                                             \
        to_vector(&va, a, bytes), to_vector(&vc, c, 4);                                           \
        for (int i = 0; i < 4; i++) {                                                             \
            long long sum = (long long)sum_of(c, 4, i);                                           \
            for (int k = i * 4 / bytes; k < (i + 1) * 4 / bytes; k++)                             \
                sum += (long long)each(a, bytes, k);                                              \
            set(&r, 4, i, (u64)bounded(sum, least, most));                                        \
        }                                                                                         \
        R got = vec_sum4s(va, vc);                                                                \
        check("sum4s " #A, &got, 4, r);                                                           \
    } while (0)
#define UNSIGNED 0, 4294967295ll
#define SIGNED -2147483648ll, 2147483647ll

static void sums(void)
{
    CALL(PRODUCT_SUMS, vec_uchar16, vec_uchar16, vec_uint4, 1, element, element, vec_msum, element, ANY);
    CALL(PRODUCT_SUMS, vec_char16, vec_uchar16, vec_int4, 1, element_signed, element, vec_msum, element_signed, ANY);
    CALL(PRODUCT_SUMS, vec_ushort8, vec_ushort8, vec_uint4, 2, element, element, vec_msum, element, ANY);
    CALL(PRODUCT_SUMS, vec_short8, vec_short8, vec_int4, 2, element_signed, element_signed, vec_msum, element_signed, ANY);
    CALL(PRODUCT_SUMS, vec_ushort8, vec_ushort8, vec_uint4, 2, element, element, vec_msums, element, UNSIGNED);
    CALL(PRODUCT_SUMS, vec_short8, vec_short8, vec_int4, 2, element_signed, element_signed, vec_msums, element_signed, SIGNED);
    CALL(SUMS, vec_uchar16, vec_uint4, 1, element, element, UNSIGNED);
    CALL(SUMS, vec_char16, vec_int4, 1, element_signed, element_signed, SIGNED);
    CALL(SUMS, vec_short8, vec_int4, 2, element_signed, element_signed, SIGNED);
    quad a = random_quad(), b = random_quad(), r = {{0}};
    vec_int4 va, vb, got;
    long long all = element_signed(b, 4, 3);
    to_vector(&va, a, 4), to_vector(&vb, b, 4);
    for (int i = 0; i < 4; i++)
        all += element_signed(a, 4, i);
    set(&r, 4, 3, (u64)bounded(all, -2147483648ll, 2147483647));
    got = vec_sums(va, vb), check("sums", &got, 4, r);
    for (int i = 0; i < 4; i += 2)
        set(&r, 4, i + 1, (u64)bounded(element_signed(a, 4, i) + element_signed(a, 4, i + 1) + element_signed(b, 4, i + 1),
                                       -2147483648ll, 2147483647));
    got = vec_sum2s(va, vb), check("sum2s", &got, 4, r);
    vec_short8 x, y, z, w;
    quad s[2], h[3] = {random_quad(), random_quad(), random_quad()};
    to_vector(&x, h[0], 2), to_vector(&y, h[1], 2), to_vector(&z, h[2], 2);
    for (int i = 0; i < 8; i++) {
        long long p = element_signed(h[0], 2, i) * element_signed(h[1], 2, i), q = element_signed(h[2], 2, i);
        set(&s[0], 2, i, (u64)bounded((p >> 15) + q, -32768, 32767));
        set(&s[1], 2, i, (u64)bounded(((p + 0x4000) >> 15) + q, -32768, 32767));
        set(&r, 2, i, (u64)(p + q));
    }
    w = vec_madds(x, y, z), check("madds", &w, 2, s[0]);
    w = vec_mradds(x, y, z), check("mradds", &w, 2, s[1]);
    w = vec_mladd(x, y, z), check("mladd", &w, 2, r);
    vec_ushort8 u = vec_mladd((vec_ushort8)x, (vec_ushort8)y, (vec_ushort8)z);
    check("mladd unsigned", &u, 2, r);
}

static void pixels(void)
{
    quad a = random_quad(), b = random_quad(), r;
    vec_uint4 va, vb;
    to_vector(&va, a, 4), to_vector(&vb, b, 4);
    for (int i = 0; i < 8; i++) {
        const u8 *from = (i < 4 ? a : b).byte + i % 4 * 4;
        set(&r, 2, i, (u64)((from[0] & 1) << 15 | from[1] >> 3 << 10 | from[2] >> 3 << 5 | from[3] >> 3));
    }
    vec_pixel8 got = vec_packpx(va, vb);
    check("packpx", &got, 2, r);
    vec_uint4 first = vec_vupkhpx(got), last = vec_vupklpx(got);
    for (int i = 0; i < 4; i++) {
        quad from = r;
        u64 x = element(from, 2, i), y = element(from, 2, i + 4);
        EXPECT(first[i] == ((x >> 15 ? 0xff000000u : 0) | (x >> 10 & 31) << 16 | (x >> 5 & 31) << 8 | (x & 31)));
        EXPECT(last[i] == ((y >> 15 ? 0xff000000u : 0) | (y >> 10 & 31) << 16 | (y >> 5 & 31) << 8 | (y & 31)));
    }
}

static void floats(void)
{
    static const float values[] = {0, -0.0f, 1.5f, -2.5f, 3e9f, -3e9f, 5e9f, 1e-40f, 2147483648.0f, 0.5f, -0.5f, 7,
                                   __builtin_inff(), -__builtin_inff(), __builtin_nanf("")};
    vec_float4 a, b, c;
    for (int i = 0; i < 4; i++)
        a[i] = values[random64() % 15], b[i] = values[random64() % 15], c[i] = values[random64() % 15];
    vec_float4 most = vec_max(a, b), least = vec_min(a, b), product = vec_madd(a, b, c), other = vec_nmsub(a, b, c);
    vec_float4 down = vec_floor(a), up = vec_ceil(a), in = vec_trunc(a), near = vec_round(a), size = vec_abs(a);
    vec_int4 whole = vec_cts(a, 1), bounds = vec_cmpb(a, b);
    vec_uint4 natural = vec_ctu(a, 1), ge = vec_cmpge(a, b), le = vec_cmple(a, b);
    int nan = 0, numbers = 0, nge = 0, ngt = 0, nle = 0, nlt = 0, inside = 0;
    for (int i = 0; i < 4; i++) {
        int is_none = a[i] != a[i] || b[i] != b[i];
        float more = a[i] > b[i] ? a[i] : b[i] > a[i] ? b[i] : __builtin_signbit(a[i]) ? b[i] : a[i];
        float less = a[i] < b[i] ? a[i] : b[i] < a[i] ? b[i] : __builtin_signbit(a[i]) ? a[i] : b[i];
        EXPECT(is_none ? most[i] != most[i] : most[i] == more && __builtin_signbit(most[i]) == __builtin_signbit(more));
        EXPECT(is_none ? least[i] != least[i] : least[i] == less && __builtin_signbit(least[i]) == __builtin_signbit(less));
        float fused = __builtin_fmaf(a[i], b[i], c[i]), negated = -__builtin_fmaf(a[i], b[i], -c[i]);
        EXPECT(fused != fused ? product[i] != product[i] : product[i] == fused);
        EXPECT(negated != negated ? other[i] != other[i] : other[i] == negated);
        EXPECT(a[i] != a[i] || (down[i] == __builtin_floorf(a[i]) && up[i] == __builtin_ceilf(a[i])));
        EXPECT(a[i] != a[i] || (in[i] == __builtin_truncf(a[i]) && near[i] == __builtin_rintf(a[i])));
        EXPECT(a[i] != a[i] || size[i] == __builtin_fabsf(a[i]));
        double twice = 2.0 * a[i];
        EXPECT(whole[i] == (twice != twice ? 0 : twice >= 2147483647.0 ? 2147483647 : twice <= -2147483648.0 ? (int)-2147483648ll : (int)twice));
        EXPECT(natural[i] == (twice != twice || twice <= 0 ? 0 : twice >= 4294967295.0 ? ~0u : (unsigned int)twice));
        EXPECT(ge[i] == (a[i] >= b[i] ? ~0u : 0) && le[i] == (a[i] <= b[i] ? ~0u : 0));
        EXPECT((unsigned int)bounds[i] == ((a[i] <= b[i] ? 0 : 0x80000000u) | (a[i] >= -b[i] ? 0 : 0x40000000u)));
        nan += a[i] != a[i], numbers += a[i] == a[i], inside += a[i] <= b[i] && a[i] >= -b[i];
        nge += !(a[i] >= b[i]), ngt += !(a[i] > b[i]), nle += !(a[i] <= b[i]), nlt += !(a[i] < b[i]);
    }
    EXPECT(vec_all_nan(a) == (nan == 4) && vec_any_nan(a) == (nan > 0));
    EXPECT(vec_all_numeric(a) == (numbers == 4) && vec_any_numeric(a) == (numbers > 0));
    EXPECT(vec_all_nge(a, b) == (nge == 4) && vec_any_nge(a, b) == (nge > 0));
    EXPECT(vec_all_ngt(a, b) == (ngt == 4) && vec_any_ngt(a, b) == (ngt > 0));
    EXPECT(vec_all_nle(a, b) == (nle == 4) && vec_any_nle(a, b) == (nle > 0));
    EXPECT(vec_all_nlt(a, b) == (nlt == 4) && vec_any_nlt(a, b) == (nlt > 0));
    EXPECT(vec_all_in(a, b) == (inside == 4) && vec_any_out(a, b) == (inside < 4));
    vec_float4 two = {2, 8, 4, 1}, power = vec_expte(two), one = vec_re(two), root = vec_rsqrte(two * two);
    vec_float4 back = vec_loge(power), half = vec_ctf(whole, 1);
    vec_uint4 large = {0xffffffffu, 0x80000000u, 3, 0};
    vec_float4 quarter = vec_ctf(large, 2);
    for (int i = 0; i < 4; i++) {
        EXPECT(power[i] == __builtin_exp2f(two[i]) && one[i] == 1 / two[i] && root[i] == 1 / two[i] && back[i] == two[i]);
        EXPECT(half[i] == (float)whole[i] / 2 && quarter[i] == (float)large[i] / 4);
    }
}

/* What has no elements to compare. */
static void others(void)
{
    vec_uchar16 bytes = vec_splat_u8(5);
    vec_char16 signed_bytes = vec_splat_s8(-3);
    vec_short8 halves = vec_splat_s16(-16);
    vec_int4 words = vec_splat_s32(15);
    EXPECT(bytes[0] == 5 && bytes[15] == 5 && signed_bytes[7] == -3 && halves[7] == -16 && words[3] == 15);
    EXPECT(vec_splat_u16(7)[1] == 7 && vec_splat_u32(-1)[2] == 0xffffffffu);
    unsigned int numbers[8] __attribute__((aligned(16))) = {1, 2, 3, 4, 5, 6, 7, 8};
    float parts[8] __attribute__((aligned(16))) = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char single[32] __attribute__((aligned(16))) = {1, 2, 3, 4, 5, 6, 7};
    vec_uint4 one = vec_lde(8, numbers), quad = vec_ld(16, numbers);
    EXPECT(one[2] == 3 && quad[0] == 5 && quad[3] == 8 && vec_lde(0, single + 6)[6] == 7);
    EXPECT(vec_ld(0, parts)[1] == 2 && vec_lvewx(4, parts)[1] == 2);
    vec_ste(quad, 12, numbers);
    EXPECT(numbers[3] == 8 && numbers[2] == 3 && numbers[4] == 5);
    vec_ste(bytes, 3, single), vec_stvx(quad, 0, numbers);
    EXPECT(single[3] == 5 && single[2] == 3 && numbers[0] == 5);
    /* A number that lies across two quadwords, as programs load it. */
    vec_uint4 first = vec_ld(0, numbers + 1), second = vec_ld(15, numbers + 1);
    vec_uint4 across = vec_perm(first, second, vec_lvsl(0, numbers + 1));
    EXPECT(across[0] == 6 && across[3] == 5);
    vec_uchar16 right = vec_lvsr(0, single + 3);
    EXPECT(right[0] == 13 && right[15] == 28);
    vec_mtvscr(((vec_uint4){1, 2, 3, 0x10001}));
    EXPECT(vec_mfvscr()[6] == 1 && vec_mfvscr()[7] == 1 && vec_mfvscr()[5] == 0);
    vec_dst(numbers, 1, 0);
    vec_dstt(numbers, 1, 1);
    vec_dstst(numbers, 1, 2);
    vec_dststt(numbers, 1, 3);
    vec_dss(0);
    vec_dssall();
    EXPECT(vec_vaddsws(words, words)[0] == 30 && vec_vspltw(quad, 1)[0] == 6 && vec_vcmpgtsw(words, -words)[0] == ~0u);
    /* Each argument is evaluated once. */
    int first_ones = 0, second_ones = 0;
    words = vec_add((first_ones++, words), (second_ones++, words));
    EXPECT(first_ones == 1 && second_ones == 1);
}

int main(void)
{
    for (int round = 0; round < 1000; round++) {
        INTEGERS(vec_uchar16, vec_uchar16, 1, x, y, 0, 255)
        INTEGERS(vec_char16, vec_uchar16, 1, X, Y, -128, 127)
        INTEGERS(vec_ushort8, vec_ushort8, 2, x, y, 0, 65535)
        INTEGERS(vec_short8, vec_ushort8, 2, X, Y, -32768, 32767)
        INTEGERS(vec_uint4, vec_uint4, 4, x, y, 0, 4294967295)
        INTEGERS(vec_int4, vec_uint4, 4, X, Y, -2147483648ll, 2147483647)
        EACH("abs ", vec_char16, vec_char16, 1, vec_abs(va), X < 0 ? -X : X);
        EACH("abs ", vec_short8, vec_short8, 2, vec_abs(va), X < 0 ? -X : X);
        EACH("abs ", vec_int4, vec_int4, 4, vec_abs(va), X < 0 ? -X : X);
        EACH("abss ", vec_char16, vec_char16, 1, vec_abss(va), X == -128 ? 127 : X < 0 ? -X : X);
        EACH("abss ", vec_int4, vec_int4, 4, vec_abss(va), X == -2147483648ll ? 2147483647 : X < 0 ? -X : X);
        EACH("addc ", vec_uint4, vec_uint4, 4, vec_addc(va, vb), (x + y) >> 32);
        EACH("subc ", vec_uint4, vec_uint4, 4, vec_subc(va, vb), x >= y);
        BITS(vec_uchar16, 1)
        BITS(vec_ushort8, 2)
        BITS(vec_int4, 4)
        BITS(vec_float4, 4)
        CALL(WIDTHS, vec_ushort8, vec_uchar16, 2, element, ANY, vec_pack);
        CALL(WIDTHS, vec_short8, vec_char16, 2, element_signed, ANY, vec_pack);
        CALL(WIDTHS, vec_uint4, vec_ushort8, 4, element, ANY, vec_pack);
        CALL(WIDTHS, vec_int4, vec_short8, 4, element_signed, ANY, vec_pack);
        WIDTHS(vec_ushort8, vec_uchar16, 2, element, 0, 255, vec_packs);
        WIDTHS(vec_short8, vec_char16, 2, element_signed, -128, 127, vec_packs);
        WIDTHS(vec_uint4, vec_ushort8, 4, element, 0, 65535, vec_packs);
        WIDTHS(vec_int4, vec_short8, 4, element_signed, -32768, 32767, vec_packs);
        WIDTHS(vec_ushort8, vec_uchar16, 2, element, 0, 255, vec_packsu);
        WIDTHS(vec_short8, vec_uchar16, 2, element_signed, 0, 255, vec_packsu);
        WIDTHS(vec_uint4, vec_ushort8, 4, element, 0, 65535, vec_packsu);
        WIDTHS(vec_int4, vec_ushort8, 4, element_signed, 0, 65535, vec_packsu);
        UNPACKED(vec_char16, vec_short8, 1);
        UNPACKED(vec_bchar16, vec_bshort8, 1);
        UNPACKED(vec_short8, vec_int4, 2);
        UNPACKED(vec_bshort8, vec_bint4, 2);
        PRODUCTS(vec_uchar16, vec_ushort8, 1, element);
        PRODUCTS(vec_char16, vec_short8, 1, element_signed);
        PRODUCTS(vec_ushort8, vec_uint4, 2, element);
        PRODUCTS(vec_short8, vec_int4, 2, element_signed);
        sums();
        pixels();
        floats();
        others();
    }
    printf("%u of %u checks failed\n", failures, checks);
    return failures != 0;
}
