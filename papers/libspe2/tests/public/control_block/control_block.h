#ifndef CONTROL_BLOCK_H
#define CONTROL_BLOCK_H

/* Effective addresses of a 32-bit program. */
typedef struct _control_block {
	unsigned int in;
	unsigned int out;
	unsigned int count;
	float factor;
	unsigned int status;
	unsigned char pad[108];
} control_block;

typedef struct {
	float vector[4];
	int n;
} element;

int counter;

#endif
