/* The SPU's specific functions on the PPE. */
#include "spu2vmx.h"
