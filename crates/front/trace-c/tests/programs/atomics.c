/* Every atomic operation of every size does what it does without the library. */
#include <stdio.h>

#define CHECK(condition) if (!(condition)) { printf("line %d\n", __LINE__); return 1; }
#define ORDER __ATOMIC_SEQ_CST

#define OPERATIONS(type) \
    { \
        static type at = 12; \
        type expected = 7; \
        CHECK(__atomic_load_n(&at, __ATOMIC_ACQUIRE) == 12) \
        __atomic_store_n(&at, 10, __ATOMIC_RELEASE); \
        __atomic_store_n(&at, 11, ORDER); \
        CHECK(__atomic_exchange_n(&at, 12, ORDER) == 11) \
        CHECK(__atomic_fetch_add(&at, 3, ORDER) == 12) \
        CHECK(__atomic_fetch_sub(&at, 1, ORDER) == 15) \
        CHECK(__atomic_fetch_and(&at, 12, ORDER) == 14) \
        CHECK(__atomic_fetch_or(&at, 3, ORDER) == 12) \
        CHECK(__atomic_fetch_xor(&at, 5, ORDER) == 15) \
        CHECK(__atomic_fetch_nand(&at, 2, ORDER) == 10) \
        CHECK(at == (type)~2) \
        CHECK(!__atomic_compare_exchange_n(&at, &expected, 1, 0, ORDER, ORDER) && expected == (type)~2) \
        CHECK(__atomic_compare_exchange_n(&at, &expected, 1, 0, ORDER, ORDER) && at == 1) \
        expected = 1; \
        while (!__atomic_compare_exchange_n(&at, &expected, 2, 1, ORDER, ORDER)) { } \
        CHECK(at == 2) \
    }

static int wide(void) {
    static __int128 at = (__int128)5 << 64;
    __int128 expected = at;
    CHECK(__atomic_fetch_add(&at, (__int128)1 << 64, ORDER) == (__int128)5 << 64)
    CHECK(!__atomic_compare_exchange_n(&at, &expected, 9, 0, ORDER, ORDER) && expected == (__int128)6 << 64)
    CHECK(__atomic_compare_exchange_n(&at, &expected, -1, 0, ORDER, ORDER))
    CHECK(__atomic_load_n(&at, ORDER) == -1)
    __atomic_store_n(&at, 3, ORDER);
    CHECK(__atomic_exchange_n(&at, 4, ORDER) == 3)
    return 0;
}

int main(void) {
    OPERATIONS(unsigned char)
    OPERATIONS(unsigned short)
    OPERATIONS(unsigned int)
    OPERATIONS(unsigned long)
    __atomic_thread_fence(ORDER);
    __atomic_signal_fence(ORDER);
    if (wide()) return 1;
    printf("right\n");
    return 0;
}
