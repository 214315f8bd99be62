// Objects of an SPU program: constructed before main, destroyed after it, the last one first; again in a second run.
#include <spu_mfcio.h>

static unsigned int order[4] __attribute__((aligned(16)));
static unsigned int count;
static unsigned long long there;

struct Object {
    unsigned int number;
    explicit Object(unsigned int n) : number(n) { order[count++] = n; }
    ~Object()
    {
        order[count++] = 10 + number;
        if (number == 1) {
            mfc_put(order, there, sizeof order, 0, 0, 0);
            mfc_write_tag_mask(1);
            mfc_read_tag_status_all();
            count = 0;
        }
    }
};

static Object first(1), second(2);

int main(unsigned long long, unsigned long long argp, unsigned long long)
{
    there = argp;
    return order[0] == 1 && order[1] == 2 ? 0 : 1;
}
