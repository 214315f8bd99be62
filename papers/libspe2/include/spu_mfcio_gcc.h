/* Another name of spu_mfcio.h. */
#include "spu_mfcio.h"
