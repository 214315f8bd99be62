/* The SPU's functions on the PPE. */
#ifndef _SPU2VMX_H_
#define _SPU2VMX_H_
#include "spu_intrinsics.h"
#include "altivec.h"
#endif
