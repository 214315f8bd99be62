/* What seatmap's libspe2 has beside the public interface: where contexts and memory lie on a simulated Cell, and its
 * clock. On this computer the first two do nothing. */
#ifndef SEATMAP_SPE_H
#define SEATMAP_SPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Contexts that are created from now on take SPEs of this chip, as long as one is free; -1: any. */
void seatmap_spe_use_chip(int chip);

/* A range of addresses lies in the memory of this chip; all others lie in the first one's. */
void seatmap_spe_place(void *start, size_t bytes, int chip);

/* Ticks of the time base and of decrementers in a second. */
double seatmap_spe_ticks_per_second(void);

#ifdef __cplusplus
}
#endif
#endif
