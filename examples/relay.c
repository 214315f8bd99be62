/* Readers and writers: each reader fills a buffer, and its writer empties it. The two wait for each other by a mutex and
   condition variables, as in many servers. All readers are started first, then all writers. Prints buffers a second.

   gcc -O2 -pthread relay.c -o relay
   ./relay [BUFFERS [PAIRS]]    (default: 20000 buffers for each of 8 pairs) */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_PAIRS = 256, WORDS = 512 };

struct desk {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int is_full;
    uint64_t buffer[WORDS], sum;
};

static struct desk desks[MOST_PAIRS];
static int buffers = 20000, pairs = 8;

static void wait_until(struct desk *desk, int is_full)
{
    pthread_mutex_lock(&desk->mutex);
    while (desk->is_full != is_full)
        pthread_cond_wait(&desk->changed, &desk->mutex);
    pthread_mutex_unlock(&desk->mutex);
}

static void hand_over(struct desk *desk, int is_full)
{
    pthread_mutex_lock(&desk->mutex);
    desk->is_full = is_full;
    pthread_cond_signal(&desk->changed);
    pthread_mutex_unlock(&desk->mutex);
}

static void *read_all(void *argument)
{
    struct desk *desk = argument;
    pthread_setname_np(pthread_self(), "reader");
    for (int buffer = 0; buffer < buffers; buffer++) {
        wait_until(desk, 0);
        for (int word = 0; word < WORDS; word++)
            desk->buffer[word] = (uint64_t)buffer + word;
        hand_over(desk, 1);
    }
    return NULL;
}

static void *write_all(void *argument)
{
    struct desk *desk = argument;
    pthread_setname_np(pthread_self(), "writer");
    for (int buffer = 0; buffer < buffers; buffer++) {
        wait_until(desk, 1);
        for (int word = 0; word < WORDS; word++)
            desk->sum += desk->buffer[word];
        hand_over(desk, 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2 * MOST_PAIRS];
    struct timespec begun, ended;
    if (argc > 1) buffers = atoi(argv[1]);
    if (argc > 2) pairs = atoi(argv[2]);
    if (buffers < 1 || pairs < 1 || pairs > MOST_PAIRS) return 2;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int thread = 0; thread < 2 * pairs; thread++) {
        struct desk *desk = &desks[thread % pairs];
        if (thread < pairs) {
            pthread_mutex_init(&desk->mutex, NULL);
            pthread_cond_init(&desk->changed, NULL);
        }
        if (pthread_create(&threads[thread], NULL, thread < pairs ? read_all : write_all, desk)) return 1;
    }
    for (int thread = 0; thread < 2 * pairs; thread++)
        pthread_join(threads[thread], NULL);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double seconds = (ended.tv_sec - begun.tv_sec) + (ended.tv_nsec - begun.tv_nsec) / 1e9;
    printf("%.0f buffers/s\n", (double)buffers * pairs / seconds);
    return 0;
}
