/* Asks the PPE, and meanwhile waits for what comes first: the answer, or the time after which it would ask again. */
#include <spu_mfcio.h>

#define SECOND 79800000u

int main(unsigned long long spe, unsigned long long argp)
{
    int right = 0;
    (void)spe;
    spu_write_event_mask(MFC_IN_MBOX_AVAILABLE_EVENT | MFC_DECREMENTER_EVENT);
    for (unsigned int at = 0; at < (unsigned int)argp; at++) {
        spu_write_decrementer(20 * SECOND);
        spu_write_out_intr_mbox(at);
        unsigned int events = spu_read_event_status();
        spu_write_event_ack(events);
        if (events & MFC_DECREMENTER_EVENT)
            break;
        right += spu_read_in_mbox() == 3 * at;
    }
    return right;
}
