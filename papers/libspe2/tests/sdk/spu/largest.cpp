#include "reduce.h"
#include "statistics.h"
#include <spu_intrinsics.h>
#include <spu_mfcio.h>

namespace {

template <class T> class Fetched {
    T value_;

  public:
    explicit Fetched(unsigned long long from)
    {
        mfc_get(&value_, from, sizeof value_, 0, 0, 0);
        mfc_write_tag_mask(1);
        mfc_read_tag_status_all();
    }
    const T &operator*() const
    {
        return value_;
    }
} __attribute__((aligned(128)));

vector float numbers[PART / 4] __attribute__((aligned(128)));

}

int main(unsigned long long, unsigned long long argp, unsigned long long)
{
    Fetched<order_t> order(argp);
    Fetched<answer_t> before((*order).answer);
    answer_t answer = *before;
    mfc_get(numbers, (*order).numbers, (*order).count * sizeof(float), 0, 0, 0);
    mfc_read_tag_status_all();
    vector float most = numbers[0];
    for (unsigned int i = 1; i < (*order).count / 4; i++)
        most = spu_sel(most, numbers[i], spu_cmpgt(numbers[i], most));
    answer.largest = reduce_largest(most);
    mfc_put(&answer, (*order).answer, sizeof answer, 0, 0, 0);
    mfc_read_tag_status_all();
    return 0;
}
