/* printf on the SPU, by the name that some programs use. */
#ifndef SPU_PRINTF_H
#define SPU_PRINTF_H

#include <stdio.h>

#define spu_printf printf

#endif
