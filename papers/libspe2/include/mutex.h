/* Another name of libsync.h, which has the mutexes. */
#include "libsync.h"
