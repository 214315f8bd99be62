/* Squares the numbers that come by mailbox. */
#include <spu_mfcio.h>

int main(void)
{
    unsigned int count = spu_read_in_mbox(), at;
    for (at = 0; at < count; at++) {
        unsigned int question = spu_read_in_mbox();
        spu_write_out_intr_mbox(question * question);
    }
    spu_write_out_mbox(at);
    return 0;
}
