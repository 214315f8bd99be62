/* Calls that the PPE answers: stops with this code, the opcode and the address of the data behind it. */
#ifndef _SYS_SEND_TO_PPE_H
#define _SYS_SEND_TO_PPE_H
#include "../seatmap_spu.h"
#endif
