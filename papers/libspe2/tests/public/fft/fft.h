#define LOG_N 9
#define N (1 << LOG_N)

typedef struct {
	unsigned long long re, im;
	unsigned int inverse, pad[3];
} fft_t;
