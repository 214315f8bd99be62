/* Another name of libsync.h, with the mutexes. */
#include "libsync.h"
