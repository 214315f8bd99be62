/* Vectors in parentheses in C++, and braces that make numbers narrow. */
#include <stdio.h>
#ifdef __SPU__
#include <spu_intrinsics.h>
#else
#include <altivec.h>
#endif
static int failed;
#define CHECK(condition) failed |= !(condition) && printf("%d: not so: %s\n", __LINE__, #condition)
#include "literals.h"

int main()
{
    unsigned int narrow[] = {-1};
    literals();
    CHECK(narrow[0] == 0xffffffff);
    return failed;
}
