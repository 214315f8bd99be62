/* printf, by the name in programs for the Cell's simulator. */
#ifndef SIM_PRINTF_H
#define SIM_PRINTF_H

#include <stdio.h>

#define sim_printf printf

#endif
