/* The specific intrinsics against a reference. */
#include "reference.h"
#include <spu_internals.h>

#define Q (qword)
#define WORDS(name, call, expected) EACH(name " ", vec_uint4, vec_uint4, 4, call, expected)
#define HALVES(name, call, expected) EACH(name " ", vec_ushort8, vec_ushort8, 2, call, expected)
#define BYTES(name, call, expected) EACH(name " ", vec_uchar16, vec_uchar16, 1, call, expected)

static void words(void)
{
    WORDS("a", si_a(Q va, Q vb), x + y);
    WORDS("ai", si_ai(Q va, -5), x - 5);
    WORDS("sf", si_sf(Q va, Q vb), y - x);
    WORDS("sfi", si_sfi(Q va, 9), 9 - x);
    WORDS("addx", si_addx(Q va, Q vb, Q va), x + y + (x & 1));
    WORDS("sfx", si_sfx(Q va, Q vb, Q va), y - x - !(x & 1));
    WORDS("cg", si_cg(Q va, Q vb), (x + y) >> 32);
    WORDS("bg", si_bg(Q va, Q vb), y >= x);
    WORDS("cgx", si_cgx(Q va, Q vb, Q vb), (x + y + (y & 1)) >> 32);
    WORDS("bgx", si_bgx(Q va, Q vb, Q vb), (y & 1) ? y >= x : y > x);
    WORDS("clz", si_clz(Q va), x ? __builtin_clzll(x) - 32 : 32);
    WORDS("iohl", si_iohl(Q va, 0x1234), x | 0x1234);
    WORDS("il", si_il(-7), -7);
    WORDS("ila", si_ila(0x3ffff), 0x3ffff);
    WORDS("ilhu", si_ilhu(0x8765), 0x87650000);
    WORDS("and", si_and(Q va, Q vb), x & y);
    WORDS("andc", si_andc(Q va, Q vb), x & ~y);
    WORDS("or", si_or(Q va, Q vb), x | y);
    WORDS("orc", si_orc(Q va, Q vb), x | ~y);
    WORDS("xor", si_xor(Q va, Q vb), x ^ y);
    WORDS("nand", si_nand(Q va, Q vb), ~(x & y));
    WORDS("nor", si_nor(Q va, Q vb), ~(x | y));
    WORDS("eqv", si_eqv(Q va, Q vb), ~(x ^ y));
    WORDS("andi", si_andi(Q va, -16), x & (u64)-16);
    WORDS("ori", si_ori(Q va, 3), x | 3);
    WORDS("xori", si_xori(Q va, -1), ~x);
    WORDS("selb", si_selb(Q va, Q vb, Q vb), (x & ~y) | y);
    WORDS("shl", si_shl(Q va, Q vb), shifted(x, y, 32));
    WORDS("shli", si_shli(Q va, 37), 0);
    WORDS("rot", si_rot(Q va, Q vb), rotated(x, y, 32));
    WORDS("roti", si_roti(Q va, -4), rotated(x, 28, 32));
    WORDS("rotm", si_rotm(Q va, Q vb), shifted_right(x, -y, 32));
    WORDS("rotmi", si_rotmi(Q va, -3), x >> 3);
    WORDS("rotma", si_rotma(Q va, Q vb), shifted_signed(X, -y, 32));
    WORDS("rotmai", si_rotmai(Q va, -3), X >> 3);
    WORDS("ceq", si_ceq(Q va, Q vb), x == y ? ~0ull : 0);
    WORDS("ceqi", si_ceqi(Q va, 0), x == 0 ? ~0ull : 0);
    WORDS("cgt", si_cgt(Q va, Q vb), X > Y ? ~0ull : 0);
    WORDS("cgti", si_cgti(Q va, -1), X > -1 ? ~0ull : 0);
    WORDS("clgt", si_clgt(Q va, Q vb), x > y ? ~0ull : 0);
    WORDS("clgti", si_clgti(Q va, 77), x > 77 ? ~0ull : 0);
}

static void halves_and_bytes(void)
{
    HALVES("ah", si_ah(Q va, Q vb), x + y);
    HALVES("ahi", si_ahi(Q va, 12), x + 12);
    HALVES("sfh", si_sfh(Q va, Q vb), y - x);
    HALVES("sfhi", si_sfhi(Q va, -1), -1 - x);
    HALVES("ilh", si_ilh(-2), -2);
    HALVES("andhi", si_andhi(Q va, 0xff0), x & 0xff0);
    HALVES("orhi", si_orhi(Q va, 0xff0), x | 0xff0);
    HALVES("xorhi", si_xorhi(Q va, 0xff0), x ^ 0xff0);
    HALVES("shlh", si_shlh(Q va, Q vb), shifted(x, y, 16));
    HALVES("shlhi", si_shlhi(Q va, 3), x << 3);
    HALVES("roth", si_roth(Q va, Q vb), rotated(x, y, 16));
    HALVES("rothi", si_rothi(Q va, 5), rotated(x, 5, 16));
    HALVES("rothm", si_rothm(Q va, Q vb), shifted_right(x, -y, 16));
    HALVES("rothmi", si_rothmi(Q va, -9), x >> 9);
    HALVES("rotmah", si_rotmah(Q va, Q vb), shifted_signed(X, -y, 16));
    HALVES("rotmahi", si_rotmahi(Q va, -9), X >> 9);
    HALVES("ceqh", si_ceqh(Q va, Q vb), x == y ? ~0ull : 0);
    HALVES("ceqhi", si_ceqhi(Q va, -1), x == 0xffff ? ~0ull : 0);
    HALVES("cgth", si_cgth(Q va, Q vb), X > Y ? ~0ull : 0);
    HALVES("cgthi", si_cgthi(Q va, 3), X > 3 ? ~0ull : 0);
    HALVES("clgth", si_clgth(Q va, Q vb), x > y ? ~0ull : 0);
    HALVES("clgthi", si_clgthi(Q va, 3), x > 3 ? ~0ull : 0);
    BYTES("cntb", si_cntb(Q va), __builtin_popcountll(x));
    BYTES("avgb", si_avgb(Q va, Q vb), (x + y + 1) / 2);
    BYTES("absdb", si_absdb(Q va, Q vb), x > y ? x - y : y - x);
    BYTES("andbi", si_andbi(Q va, 0x3c), x & 0x3c);
    BYTES("orbi", si_orbi(Q va, 0x3c), x | 0x3c);
    BYTES("xorbi", si_xorbi(Q va, 0x3c), x ^ 0x3c);
    BYTES("ceqb", si_ceqb(Q va, Q vb), x == y ? ~0ull : 0);
    BYTES("ceqbi", si_ceqbi(Q va, 0xff), x == 0xff ? ~0ull : 0);
    BYTES("cgtb", si_cgtb(Q va, Q vb), X > Y ? ~0ull : 0);
    BYTES("cgtbi", si_cgtbi(Q va, -1), X > -1 ? ~0ull : 0);
    BYTES("clgtb", si_clgtb(Q va, Q vb), x > y ? ~0ull : 0);
    BYTES("clgtbi", si_clgtbi(Q va, 200), x > 200 ? ~0ull : 0);
    BYTES("fsmbi", si_fsmbi(0xa5c3), 0xa5c3 >> (15 - i) & 1 ? 0xff : 0);
    HALVES("fsmh", si_fsmh(si_from_uint(0xb4)), 0xb4 >> (7 - i) & 1 ? 0xffff : 0);
    BYTES("fsmb", si_fsmb(si_from_uint(0xa5c3)), 0xa5c3 >> (15 - i) & 1 ? 0xff : 0);
    WORDS("fsm", si_fsm(si_from_uint(0xa)), 0xa >> (3 - i) & 1 ? 0xffffffff : 0);
}

/* Products and extensions: words of halfwords, where the odd one is the lower half of the number. */
static void products(void)
{
#define ODD(v, at) element_signed(v, 2, 2 * (at) + 1)
#define EVEN(v, at) element_signed(v, 2, 2 * (at))
#define PRODUCT(name, call, expected)                              \
    do {                                                           \
        quad a = random_quad(), b = random_quad(), c = random_quad(), r; \
        vec_ushort8 va, vb;                                        \
        vec_uint4 vc, got;                                         \
        to_vector(&va, a, 2), to_vector(&vb, b, 2), to_vector(&vc, c, 4); \
        for (int i = 0; i < 4; i++)                                \
            set(&r, 4, i, (u64)(expected));                        \
        got = (vec_uint4)(call);                                   \
        check(name, &got, 4, r);                                   \
    } while (0)
    PRODUCT("mpy", si_mpy(Q va, Q vb), ODD(a, i) * ODD(b, i));
    PRODUCT("mpyu", si_mpyu(Q va, Q vb), (ODD(a, i) & 0xffff) * (ODD(b, i) & 0xffff));
    PRODUCT("mpyi", si_mpyi(Q va, -300), ODD(a, i) * -300);
    PRODUCT("mpyui", si_mpyui(Q va, 300), (ODD(a, i) & 0xffff) * 300);
    PRODUCT("mpya", si_mpya(Q va, Q vb, Q vc), ODD(a, i) * ODD(b, i) + element_signed(c, 4, i));
    PRODUCT("mpyh", si_mpyh(Q va, Q vb), (EVEN(a, i) * ODD(b, i)) << 16);
    PRODUCT("mpys", si_mpys(Q va, Q vb), (ODD(a, i) * ODD(b, i)) >> 16);
    PRODUCT("mpyhh", si_mpyhh(Q va, Q vb), EVEN(a, i) * EVEN(b, i));
    PRODUCT("mpyhhu", si_mpyhhu(Q va, Q vb), (EVEN(a, i) & 0xffff) * (EVEN(b, i) & 0xffff));
    PRODUCT("mpyhha", si_mpyhha(Q va, Q vb, Q vc), EVEN(a, i) * EVEN(b, i) + element_signed(c, 4, i));
    PRODUCT("mpyhhau", si_mpyhhau(Q va, Q vb, Q vc),
            (EVEN(a, i) & 0xffff) * (EVEN(b, i) & 0xffff) + element_signed(c, 4, i));
    PRODUCT("xshw", si_xshw(Q va), ODD(a, i));
}

/* The whole quadword as four words. */
static void quadwords(void)
{
    quad a = random_quad(), b = random_quad(), p = random_quad();
    vec_uint4 va, vb, got;
    vec_uchar16 pattern;
    int n = (int)random64() & 0xff;
    qword count = si_from_int(n);
    to_vector(&va, a, 4), to_vector(&vb, b, 4), to_vector(&pattern, p, 1);
#define WHOLE(call, expected) got = (vec_uint4)(call), check(#call, &got, 4, expected)
    WHOLE(si_shufb(va, vb, Q pattern), shuffled(a, b, p));
    WHOLE(si_shlqbi(va, count), moved(a, n & 7, 0));
    WHOLE(si_shlqbii(va, 5), moved(a, 5, 0));
    WHOLE(si_shlqby(va, count), moved(a, (n & 31) * 8, 0));
    WHOLE(si_shlqbyi(va, 11), moved(a, 88, 0));
    WHOLE(si_shlqbybi(va, count), moved(a, (n >> 3 & 31) * 8, 0));
    WHOLE(si_rotqbi(va, count), moved(a, n & 7, 1));
    WHOLE(si_rotqbii(va, 3), moved(a, 3, 1));
    WHOLE(si_rotqby(va, count), moved(a, (n & 15) * 8, 1));
    WHOLE(si_rotqbyi(va, 4), moved(a, 32, 1));
    WHOLE(si_rotqbybi(va, count), moved(a, (n >> 3 & 15) * 8, 1));
    WHOLE(si_rotqmbi(va, count), moved(a, -(-n & 7), 0));
    WHOLE(si_rotqmbii(va, -2), moved(a, -2, 0));
    WHOLE(si_rotqmby(va, count), moved(a, -((-n & 31) * 8), 0));
    WHOLE(si_rotqmbyi(va, -4), moved(a, -32, 0));
    WHOLE(si_rotqmbybi(va, count), moved(a, -((-(n >> 3) & 31) * 8), 0));
    /* A word, a halfword and a byte put into another quadword, at addresses that are cut to their size. */
    quad r = b;
    set(&r, 4, n % 16 / 4, element(a, 4, 0));
    WHOLE(si_shufb(va, vb, si_cwd(count, 0)), r);
    r = b, set(&r, 2, (n + 6) % 16 / 2, element(a, 4, 0) & 0xffff);
    WHOLE(si_shufb(va, vb, si_chd(count, 6)), r);
    r = b, set(&r, 1, (n + n) % 16, element(a, 4, 0) & 0xff);
    WHOLE(si_shufb(va, vb, si_cbx(count, count)), r);
    r = b, set(&r, 8, n % 16 / 8, element(a, 8, 0));
    WHOLE(si_shufb(va, vb, si_cdd(count, 0)), r);
    r = (quad){{0}}, set(&r, 4, 0, element(a, 4, 0) | element(a, 4, 1) | element(a, 4, 2) | element(a, 4, 3));
    WHOLE(si_orx(va), r);
}

/* Numbers in the preferred slot, and quadwords in memory, whose addresses lose their last four bits. */
static void memory(void)
{
    static vec_uint4 room[4];
    qword at = si_from_ptr(room), value = si_from_uint(0x12345678);
    checks += 6;
    failures += si_to_int(si_from_int(-3)) != -3 || si_to_uchar(si_from_uchar(200)) != 200;
    failures += si_to_short(si_from_short(-3)) != -3 || si_to_ushort(si_from_ushort(65000)) != 65000;
    failures += si_to_ullong(si_from_ullong(1ull << 40)) != 1ull << 40 || si_to_char(si_from_char(-7)) != -7;
    failures += si_to_float(si_from_float(1.5f)) != 1.5f || si_to_double(si_from_double(-2.5)) != -2.5;
    failures += si_to_ptr(at) != (void *)room || si_to_llong(si_from_llong(-9)) != -9;
    si_stqd(value, at, 36);
    si_stqx(value, at, si_from_int(16));
    failures += room[2][0] != 0x12345678 || room[1][0] != 0x12345678 || si_lqd(at, 35)[0] != 0x12345678;
    checks += 2;
    failures += si_lqx(at, si_from_int(31))[0] != 0x12345678 || room[3][0] != 0 || room[0][0] != 0;
    failures += si_lqa(&room[2])[0] != 0x12345678;
}

static void floating(void)
{
    vec_float4 a = {1.5f, -2, 3, 4e9f}, b = {2, 3, -3, 1}, c = {1, 1, 1, 1};
    vec_double2 d = {1.5, -2}, e = {2, 4};
#define SAME(call, T, ...)                                            \
    do {                                                              \
        T got = (T)(call), expected = (T)(__typeof__(expected)){__VA_ARGS__}; \
        checks++, failures += memcmp(&got, &expected, 16) != 0;       \
        if (memcmp(&got, &expected, 16) != 0)                         \
            printf("%s\n", #call);                                    \
    } while (0)
    SAME(si_fa(Q a, Q b), vec_float4, 3.5f, 1, 0, 4e9f + 1);
    SAME(si_fs(Q a, Q b), vec_float4, -0.5f, -5, 6, 4e9f - 1);
    SAME(si_fm(Q a, Q b), vec_float4, 3, -6, -9, 4e9f);
    SAME(si_fma(Q a, Q b, Q c), vec_float4, 4, -5, -8, 4e9f + 1);
    SAME(si_fms(Q a, Q b, Q c), vec_float4, 2, -7, -10, 4e9f - 1);
    SAME(si_fnms(Q a, Q b, Q c), vec_float4, -2, 7, 10, 1 - 4e9f);
    SAME(si_dfa(Q d, Q e), vec_double2, 3.5, 2);
    SAME(si_dfs(Q d, Q e), vec_double2, -0.5, -6);
    SAME(si_dfm(Q d, Q e), vec_double2, 3, -8);
    SAME(si_dfma(Q d, Q e, Q d), vec_double2, 4.5, -10);
    SAME(si_dfms(Q d, Q e, Q d), vec_double2, 1.5, -6);
    SAME(si_dfnms(Q d, Q e, Q d), vec_double2, -1.5, 6);
    SAME(si_dfnma(Q d, Q e, Q d), vec_double2, -4.5, 10);
    SAME(si_frest(Q b), vec_float4, 0.5f, 1.0f / 3, -1.0f / 3, 1);
    SAME(si_fi(Q b, si_frest(Q b)), vec_float4, 0.5f, 1.0f / 3, -1.0f / 3, 1);
    SAME(si_cflts(Q a, 1), vec_int4, 3, -4, 6, 2147483647);
    SAME(si_cfltu(Q a, 0), vec_uint4, 1, 0, 3, 4000000000u);
    SAME(si_csflt(si_cflts(Q a, 1), 1), vec_float4, 1.5f, -2, 3, 1073741824.0f);
    SAME(si_cuflt(si_cfltu(Q a, 0), 0), vec_float4, 1, 0, 3, 4e9f);
    SAME(si_fesd(Q a), vec_double2, 1.5, 3);
    SAME(si_frds(Q e), vec_float4, 2, 0, 4, 0);
    SAME(si_fceq(Q a, Q a), vec_uint4, ~0u, ~0u, ~0u, ~0u);
    SAME(si_fcgt(Q a, Q b), vec_uint4, 0, 0, ~0u, ~0u);
    SAME(si_fcmeq(Q a, Q b), vec_uint4, 0, 0, ~0u, 0);
    SAME(si_fcmgt(Q a, Q b), vec_uint4, 0, 0, 0, ~0u);
    SAME(si_dfcgt(Q e, Q d), vec_ullong2, ~0ull, ~0ull);
    SAME(si_dfcmgt(Q d, Q e), vec_ullong2, 0, 0);
    SAME(si_dfceq(Q d, Q d), vec_ullong2, ~0ull, ~0ull);
    SAME(si_dfcmeq(Q d, Q e), vec_ullong2, 0, 0);
    SAME(si_dftsv(Q d, SPU_SV_NAN), vec_ullong2, 0, 0);
}

int main(void)
{
    for (int round = 0; round < 1000; round++)
        words(), halves_and_bytes(), products(), quadwords();
    memory();
    floating();
    printf("%u of %u checks failed\n", failures, checks);
    return failures != 0;
}
