/* Prices of options by the formula of Black and Scholes, in blocks of numbers of the same kind. */
#ifndef BLACK_SCHOLES_H
#define BLACK_SCHOLES_H

#define OPTIONS 1024

/* One block of options, and the prices of its calls. */
struct options {
    float spot[OPTIONS], strike[OPTIONS], years[OPTIONS], call[OPTIONS];
} __attribute__((aligned(128)));

struct order {
    unsigned long long options;
    unsigned int blocks, first, step, times;
    float rate, volatility;
} __attribute__((aligned(16)));

#endif
