#include <spu_mfcio.h>

int main(void)
{
	unsigned int word;
	while ((word = spu_read_in_mbox()) != 0xffffffff)
		spu_write_out_mbox(word + 1);
	spu_write_out_mbox(spu_read_signal1());
	return 0;
}
