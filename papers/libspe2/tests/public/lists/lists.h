#define ROWS 32
#define WIDTH 256

/* Declared by the program itself, with the fields in the order in which the Cell has them. */
struct dma_list_elem {
	union {
		unsigned int all32;
		struct {
			unsigned int stall : 1;
			unsigned int reserved : 15;
			unsigned int nbytes : 16;
		} bits;
	} size;
	unsigned int ea_low;
};

typedef union {
	unsigned long long ull;
	unsigned int ui[2];
} addr64;
