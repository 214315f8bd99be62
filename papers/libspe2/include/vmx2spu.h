/* AltiVec's functions on an SPU. */
#ifndef _VMX2SPU_H_
#define _VMX2SPU_H_
#include "spu_intrinsics.h"
#include "altivec.h"
#endif
