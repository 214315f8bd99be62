typedef struct {
	unsigned long long image;
	int width, height, limit;
	float re, im, left, top, step;
} __attribute__((aligned(16))) params_t;

#define MAX_WIDTH 1024
#define STOP 0xffffffffu
