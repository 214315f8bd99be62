#ifndef PIPE_H
#define PIPE_H
#define STAGES 4
#define ITEMS 24
#define WORDS 256
typedef struct {
  unsigned int my_id, next_ls, next_sig, pad0;
  unsigned long long in, out;
  unsigned int pad[24];
} control_block;
#endif
