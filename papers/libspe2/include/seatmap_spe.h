/* Additions of Seatmap's libspe2: places of contexts and memory on a simulated Cell, and its clock. On this computer
 * the first two do nothing. */
#ifndef SEATMAP_SPE_H
#define SEATMAP_SPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* New contexts take SPEs of this chip while one is free; -1: any. */
void seatmap_spe_use_chip(int chip);

/* Places addresses in this chip's memory; all others are in the first one's. */
void seatmap_spe_place(void *start, size_t bytes, int chip);

/* Ticks of the time base and of decrementers in a second. */
double seatmap_spe_ticks_per_second(void);

#ifdef __cplusplus
}
#endif
#endif
