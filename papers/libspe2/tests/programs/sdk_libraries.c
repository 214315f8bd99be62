/* The SDK's small libraries on both sides: sines, matrices, a Fourier transform, large numbers, random numbers. */
#include "check.h"
#include <libfft.h>
#include <libgmath.h>
#include <libmatrix.h>
#include <libmpm.h>
#include <math.h>
#include <mc_rand.h>

#define SIZE 32

static int is_near(float a, float b)
{
    return fabsf(a - b) < 1e-5f;
}

static void angles(void)
{
    vec_float4 v = {0.0f, 0.5f, 1.0f, -2.0f}, sine = sin14_v(v), cosine = cos18_v(v), turns = cos_sin18_v(v / 4);
    for (int i = 0; i < 4; i++) {
        CHECK(is_near(sine[i], sinf(v[i])) && is_near(cosine[i], cosf(v[i])));
        CHECK(is_near(turns[i], cosf(v[i] * 1.57079633f)));
    }
    CHECK(is_near(sin8(1), sinf(1)) && is_near(cos14(1), cosf(1)) && is_near(cos_sin8(0.5f), -1));
}

static void matrices(void)
{
    /* Columns: the first takes x to (1, 2, 0, 0). */
    vec_float4 m[4] = {{1, 2, 0, 0}, {0, 1, 3, 0}, {4, 0, 1, 0}, {5, 6, 7, 1}}, out[4], back[4];
    transpose_matrix4x4(out, m);
    CHECK(out[0][1] == 0 && out[1][0] == 2 && out[3][3] == 1 && out[0][3] == 5);
    transpose_matrix4x4(out, out);
    CHECK(out[3][1] == 6 && out[2][0] == 4);
    scale_matrix4x4(out, m, ((vec_float4){2, 3, 4, 1}));
    CHECK(out[0][1] == 4 && out[1][2] == 9 && out[3][0] == 5);
    identity_matrix4x4(back);
    back[3][0] = 10;
    /* Moves by 10 along x after m, and before it. */
    mult_matrix4x4(out, back, m);
    CHECK(out[3][0] == 15 && out[3][1] == 6);
    mult_matrix4x4(out, m, back);
    CHECK(out[3][0] == 15 && out[3][1] == 26);
    inverse_matrix4x4(back, m);
    mult_matrix4x4(out, m, back);
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            CHECK(is_near(out[column][row], row == column));
}

static void transform(void)
{
    vec_float4 in[SIZE / 2], roots[SIZE / 8], out[SIZE / 2];
    float *number = (float *)in, *root = (float *)roots, *found = (float *)out;
    for (int i = 0; i < SIZE; i++)
        number[2 * i] = (float)(i * i % 7), number[2 * i + 1] = (float)(i % 3);
    for (int i = 0; i < SIZE / 4; i++) {
        root[2 * i] = cosf(6.2831853f * (float)i / SIZE);
        root[2 * i + 1] = -sinf(6.2831853f * (float)i / SIZE);
    }
    fft_1d_r2(out, in, roots, 5);
    for (int k = 0; k < SIZE; k++) {
        float real = 0, imaginary = 0;
        for (int i = 0; i < SIZE; i++) {
            float angle = -6.2831853f * (float)(i * k % SIZE) / SIZE;
            real += number[2 * i] * cosf(angle) - number[2 * i + 1] * sinf(angle);
            imaginary += number[2 * i] * sinf(angle) + number[2 * i + 1] * cosf(angle);
        }
        CHECK(fabsf(found[2 * k] - real) < 1e-3f && fabsf(found[2 * k + 1] - imaginary) < 1e-3f);
    }
    fft_1d_r2(in, in, roots, 5);
    CHECK(memcmp(in, out, sizeof in) == 0);
}

static void numbers(void)
{
    vec_uint4 one = {0, 0, 0, 1}, all = {~0u, ~0u, ~0u, ~0u}, a[2] = {{0, 0, 0, 0x12345678}, {9, 8, 7, 6}};
    vec_uint4 b = {0x80000000u, 0, 5, 4}, sum[3], product[4], quotient[3], rest[2], carry = {0, 0, 0, 0};
    CHECK(mpm_add2(sum, &all, 1, &one, 1) == 2 && sum[0][3] == 1 && sum[1][0] == 0 && sum[1][3] == 0);
    CHECK(mpm_add2(sum, a, 2, &one, 1) == 2 && sum[1][3] == 7 && sum[0][3] == 0x12345678);
    mpm_sub2(sum, sum, 2, &one, 1);
    CHECK(mpm_cmpeq2(sum, 2, a, 2) == ~0u && mpm_cmpeq2(sum, 2, &b, 1) == 0);
    CHECK(mpm_cmpgt(&all, &b, 1) == ~0u && mpm_cmpgt(&b, &all, 1) == 0 && mpm_cmpgt(&b, &b, 1) == 0);
    mpm_mul(product, a, 2, &b, 1);
    mpm_add2(product, product, 3, &one, 1);
    mpm_div(quotient, rest, product, 3, &b, 1);
    CHECK(mpm_cmpeq2(quotient, 3, a, 2) && rest[0][3] == 1 && rest[0][0] == 0);
    mpm_mod(rest, product, 3, a, 2);
    CHECK(rest[1][3] == 1 && rest[0][3] == 0);
    /* An estimated digit that is too large. */
    vec_uint4 dividend[2] = {{0, 0, 0, 0x7fffffff}, {~0u, 0, 0, 0}}, divisor = {0x80000000u, ~0u, ~0u, ~0u};
    mpm_div(quotient, rest, dividend, 2, &divisor, 1);
    mpm_mul(product, quotient, 2, &divisor, 1);
    mpm_add2(product, product, 3, rest, 1);
    CHECK(mpm_cmpeq2(product, 3, dividend, 2) && mpm_cmpgt(&divisor, rest, 1));
    mpm_add_partial(sum, &all, &b, &carry, 1);
    mpm_add_partial(sum, sum, &all, &carry, 1);
    CHECK(sum[0][0] == 0x7ffffffe && carry[0] == 2 && carry[1] == 1 && sum[0][1] == ~0u - 1);
    /* 3 to the power of 1000 modulo 1,000,003, and the inverse of 65,537 modulo 1,000,003. */
    vec_uint4 base = {0, 0, 0, 3}, exponent = {0, 0, 0, 1000}, modulus = {0, 0, 0, 1000003}, e = {0, 0, 0, 65537}, found;
    unsigned long long power = 1;
    for (int i = 0; i < 1000; i++)
        power = power * 3 % 1000003;
    mpm_mod_exp(&found, &base, &exponent, 1, &modulus, 1, 2);
    CHECK(found[3] == power && found[0] == 0);
    mpm_mul_inv2(&found, &modulus, 1, &e, 1);
    CHECK(found[3] * 65537ull % 1000003 == 1);
    e[3] = 2000006;
    mpm_mul_inv2(&found, &modulus, 1, &e, 1);
    CHECK(found[3] == 0 && found[2] == 0);
}

static void draws(void)
{
    vec_double2 doubles[50];
    float sum = 0, least = 1, most = -1;
    /* The first number of MT19937 for its usual seed. */
    CHECK(mc_rand_mt_u4()[0] == 3499211612u);
    for (int generator = 0; generator < 2; generator++) {
        mc_rand_mt_init(7), mc_rand_ks_init(7);
        sum = 0, least = 1, most = -1;
        for (int i = 0; i < 1000; i++) {
            vec_float4 v = generator ? mc_rand_ks_minus1_to_1_f4() : mc_rand_mt_minus1_to_1_f4();
            for (int at = 0; at < 4; at++)
                sum += v[at], least = fminf(least, v[at]), most = fmaxf(most, v[at]);
        }
        CHECK(fabsf(sum) < 200 && least >= -1 && least < -0.99f && most < 1 && most > 0.99f);
    }
    mc_rand_mt_0_to_1_array_d2(50, doubles);
    for (int i = 0; i < 50; i++)
        CHECK(doubles[i][0] >= 0 && doubles[i][1] < 1 && doubles[i][0] != doubles[i][1]);
    CHECK(mc_rand_hw_init() != 0);
}

static void libraries(void)
{
    angles();
    matrices();
    transform();
    numbers();
    draws();
}

#ifdef __SPU__
int main(void)
{
    libraries();
    return failed;
}
#else
int main(void)
{
    libraries();
    struct run run = {.spe = loaded(0)};
    start(&run);
    CHECK(end(&run) == 0);
    return failed;
}
#endif
