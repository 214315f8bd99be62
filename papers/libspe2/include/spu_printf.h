/* printf on the SPU, by some programs' name. */
#ifndef SPU_PRINTF_H
#define SPU_PRINTF_H

#include <stdio.h>

#define spu_printf printf

#endif
