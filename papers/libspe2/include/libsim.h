/* The simulator's library: its printf. */
#include "sim_printf.h"
