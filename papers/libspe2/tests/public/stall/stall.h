#define ROWS 16
#define ROW_BYTES 48
#define STRIDE 256
typedef union { unsigned long long ull; unsigned int ui[2]; void *p; } addr64;
typedef struct _parm_context {
  addr64 data;
  unsigned int sum, first;
  unsigned long long spe;
  unsigned int pad[26];
} parm_context;
