/* to be replaced */
#include "seatmap_spu.h"
#include "vec_types.h"
