#include "reduce.h"
#include "statistics.h"
#include <spu_intrinsics.h>
#include <spu_mfcio.h>

static volatile order_t order;
static volatile answer_t answer;
static vector float numbers[PART / 4] __attribute__((aligned(128)));

int main(unsigned long long id, unsigned long long argp, unsigned long long envp)
{
    vector float sum = spu_splats(0.0f);
    unsigned int i, tag = mfc_tag_reserve();
    (void)id, (void)envp;
    mfc_write_tag_mask(1 << tag);
    mfc_get(&order, argp, sizeof(order), tag, 0, 0);
    mfc_read_tag_status_all();
    mfc_get(numbers, order.numbers, order.count * sizeof(float), tag, 0, 0);
    mfc_read_tag_status_all();
    for (i = 0; i < order.count / 4; i++)
        sum = spu_add(sum, numbers[i]);
    answer.sum = reduce_sum(sum);
    mfc_put(&answer, order.answer, sizeof(answer), tag, 0, 0);
    mfc_read_tag_status_all();
    mfc_tag_release(tag);
    return 0;
}
