/* The SDK's second header of libmpm, which programs include next to libmpm.h. Its macros are not
 * documented and not here. */
#include "libmpm.h"
