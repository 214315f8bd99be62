#ifndef COMMON_H
#define COMMON_H
typedef unsigned long long ull;
typedef struct {
	ull counter, barrier[2], lock, list, room;
	ull ls[8];
	int rank, n, rounds, pad[33];
} program_args __attribute__((aligned(128)));
#endif
