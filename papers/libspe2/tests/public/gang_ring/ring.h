#include <stdint.h>
#define PEERS 4
#define BYTES 4096
#define ROUNDS 20

typedef struct {
	uint32_t rank, size;
	uint32_t ls[PEERS];	/* local stores, as effective addresses */
	uint32_t sig[PEERS];	/* signal registers */
	uint32_t pad[6];
} peer_info __attribute__((aligned(16)));
