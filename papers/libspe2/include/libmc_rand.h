#include "mc_rand.h"
