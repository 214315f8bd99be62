/* printf, by the name that programs for the simulator of the Cell use. */
#ifndef SIM_PRINTF_H
#define SIM_PRINTF_H

#include <stdio.h>

#define sim_printf printf

#endif
