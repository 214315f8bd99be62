/* Vectors in parentheses, as IBM's and Apple's compilers take them: the same in C and C++, on both sides. */
typedef vector unsigned int four;

/* At the beginning of a file, and over several lines. */
static const vector float zero = (vector float)(0., 0., -0., 0.);
static four numbers = (four)(1, 2, 3, 4);
static vector unsigned char pattern = (vector unsigned char)(
    2, 3, 0, 1,
    6, 7, 4, 5, /* ) */ 10, 11, 8, 9,
    14, 15, 12, 13);

#ifdef __SPU__
#define ADD spu_add
#else
#define ADD vec_add
#endif
#define ALL(number) (vec_float4)(number)

static vec_uint4 same(vec_uint4 a)
{
    return a;
}

static void literals(void)
{
    float parts[2] = {3.5f, 2};
    unsigned int number = 9;
    vec_uint4 ones = (vec_uint4)(vec_int4)(-1), sign = ((vec_uint4)(0x80000000));
    vec_float4 half = (vec_float4)(-0.5), part = ALL(parts[0]), log = (vec_float4)(((float)1.25f));
    vec_int4 three = (vec_int4)(5, 6, 7), sum = (vec_int4)(number + 1);
    /* A vector keeps its bits: by its name, from a call, and as a literal. */
    vec_uint4 bits = (vec_uint4)(part), called = (vec_uint4)(same((vec_uint4)(part)));
    vec_float4 inner = (vec_float4)((vec_uint4)(0x40000000, 0, 0, 0x3f800000));
    CHECK(zero[1] == 0 && numbers[2] == 3 && pattern[4] == 6 && pattern[15] == 13);
    CHECK(ones[3] == 0xffffffff && sign[2] == 0x80000000 && half[1] == -0.5f && log[3] == 1.25f);
    CHECK(part[0] == 3.5f && part[3] == 3.5f && three[0] == 5 && three[2] == 7 && three[3] == 0);
    CHECK(sum[0] == 10 && sum[3] == 10 && bits[1] == 0x40600000 && called[2] == bits[1]);
    CHECK(inner[0] == 2 && inner[1] == 0 && inner[3] == 1);
}
