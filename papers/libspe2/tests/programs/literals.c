/* Vectors in parentheses, and intrinsics by the compiler's own names. */
#include "check.h"
#ifdef __SPU__
#include <vmx2spu.h>
#else
#include <altivec.h>
#include <spu2vmx.h>
#endif
#include "literals.h"

static vec_uint4 both(vec_uint4 a)
{
    return spu_add(a, vec_splat_u32(1));
}

#ifdef __SPU__
#include <sys/send_to_ppe.h>

int main(void)
{
    literals();
    CHECK(ADD((vec_float4){1, 2, 3, 4}, (vector float){1, 1, 1, 1})[3] == 5);
    CHECK(spu_extract(__builtin_spu_cntlz(spu_splats(1u)), 0) == 31);
    CHECK(__builtin_si_to_uint(__builtin_si_a(__builtin_si_from_uint(2), __builtin_si_from_uint(3))) == 5);
    CHECK(spu_extract(both(spu_splats(4u)), 3) == 5 && mfc_begin_critical_section() == 0);
    return failed;
}
#else
int main(void)
{
    literals();
    CHECK(ADD((vec_float4){1, 2, 3, 4}, (vector float){1, 1, 1, 1})[3] == 5);
    CHECK(spu_extract(both(spu_splats(4u)), 3) == 5);
    struct run run = {.spe = loaded(0)};
    start(&run);
    CHECK(end(&run) == 0);
    return failed;
}
#endif
