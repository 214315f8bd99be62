/* An SPE waits for a message of a thread, which waits in a function of pthread: KIND says in which. With HOW=shared another
 * process ends that wait, with HOW=handled a handler, with HOW=alone nobody. */
#include "check.h"

#ifdef __SPU__
int main(void)
{
    return (int)spu_read_in_mbox();
}
#else
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t *semaphore;
static struct run run;

static void *wait_for(void *kind)
{
    unsigned int word = 0;
    if (strcmp(kind, "mutex") == 0) {
        pthread_mutex_lock(&held);
    } else if (strcmp(kind, "condition") == 0) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&condition, &mutex);
    } else if (strcmp(kind, "barrier") == 0) {
        pthread_barrier_wait(&barrier);
    } else if (strcmp(kind, "lock") == 0) {
        pthread_rwlock_wrlock(&lock);
    } else {
        sem_wait(semaphore);
    }
    CHECK(spe_in_mbox_write(run.spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    return NULL;
}

static void post(int signal)
{
    (void)signal;
    sem_post(semaphore);
}

int main(void)
{
    pthread_t thread;
    const char *kind = getenv("KIND"), *how = getenv("HOW");
    int is_shared = strcmp(how, "shared") == 0, is_handled = strcmp(how, "handled") == 0;
    run.spe = loaded(0);
    semaphore = mmap(NULL, sizeof *semaphore, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(semaphore, is_shared, 0);
    if (is_handled) {
        signal(SIGALRM, post);
        alarm(1);
    } else if (is_shared && fork() == 0) {
        usleep(1000000);
        sem_post(semaphore);
        _exit(0);
    }
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_mutex_lock(&held);
    pthread_rwlock_rdlock(&lock);
    CHECK(pthread_create(&thread, NULL, wait_for, (void *)kind) == 0);
    start(&run);
    CHECK(pthread_join(run.thread, NULL) == 0);
    if (is_shared || is_handled)
        CHECK(run.result == 0 && run.info.stop_reason == SPE_EXIT);
    else
        CHECK(run.result == -1 && run.info.stop_reason == SPE_RUNTIME_ERROR);
    return failed;
}
#endif
