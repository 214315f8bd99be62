/* libmisc, libsync and libvector for programs that link them and declare what they call: the functions of the headers,
 * weak, so that a program may have its own of that name. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "simdmath.h"
#ifdef __SPU__
#include "spu_mfcio.h"
#endif

#define static __attribute__((weak))
#define inline
#include "libmisc.h"
#include "libsync.h"
#include "libvector.h"
