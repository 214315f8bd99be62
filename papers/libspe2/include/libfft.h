#include "fft_1d_r2.h"
