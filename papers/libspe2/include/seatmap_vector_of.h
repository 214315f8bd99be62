/* '(vector float)(number)' in C++, as IBM's and Apple's compilers take it: seatmap-cellcc writes it as a call of this
 * function, and includes this header before every source in C++. */
#ifndef SEATMAP_VECTOR_OF_H
#define SEATMAP_VECTOR_OF_H
#ifdef __cplusplus

template <bool IS_VECTOR> struct __seatmap_vector_from {
    /* All elements are the number. */
    template <typename To, typename From> static inline To make(From from)
    {
        To to = {};
        for (unsigned int at = 0; at < sizeof(To) / sizeof(to[0]); at++)
            to[at] = from;
        return to;
    }
};

template <> struct __seatmap_vector_from<true> {
    /* The vector keeps its bits. */
    template <typename To, typename From> static inline To make(From from) { return (To)from; }
};

template <typename To, typename From> static inline To __seatmap_vector_of(To *, From from)
{
    return __seatmap_vector_from<sizeof(From) == 16>::template make<To>(from);
}

#endif
#endif
