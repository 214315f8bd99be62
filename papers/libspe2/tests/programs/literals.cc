/* Vectors in parentheses in C++, braces that make numbers narrow, and 'long' as a type of its own. */
#include <stdio.h>
#ifdef __SPU__
#include <spu_intrinsics.h>
#else
#include <altivec.h>
#endif
static int failed;
#define CHECK(condition) failed |= !(condition) && printf("%d: not so: %s\n", __LINE__, #condition)
#include "literals.h"

static int kind(int) { return 1; }
static int kind(long) { return 2; }
static int kind(unsigned long) { return 3; }
template <class T> struct bytes { enum { of = 0 }; };
template <> struct bytes<unsigned int> { enum { of = 4 }; };
template <> struct bytes<long unsigned int> { enum { of = sizeof(unsigned long) }; };

int main()
{
    unsigned int narrow[] = {-1};
    literals();
    CHECK(narrow[0] == 0xffffffff);
    CHECK(ADD((vec_float4){1, 2, 3, 4}, (vector float){1, 1, 1, 1})[3] == 5);
    CHECK(kind(1) == 1 && kind(1L) == 2 && kind(7UL) == 3 && kind((long)1) == 2);
    CHECK(bytes<unsigned long>::of == 4 && sizeof 1L == 4 && sizeof(0x100000000L) == 8 && kind(0x80000000L) == 3);
    return failed;
}
