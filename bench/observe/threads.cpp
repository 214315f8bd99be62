// A schedule on std::thread. The messages are counts under a mutex with condition variables, eight at
// most.
#include "schedule.h"
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

struct Box {
    std::mutex mutex;
    std::condition_variable arrived, taken;
    int messages = 0;
};

static Box boxes[MOST][MOST];

static void play(int task) {
    pthread_setname_np(pthread_self(), ("w" + std::to_string(task)).c_str());
    for (int round = 0; round < rounds; round++) {
        do_work();
        for (int at = 0; at < count[task]; at++) {
            int other = with[task][at];
            Box &box = sends[task][at] ? boxes[task][other] : boxes[other][task];
            std::unique_lock<std::mutex> lock(box.mutex);
            if (sends[task][at]) {
                box.taken.wait(lock, [&] { return box.messages < 8; });
                box.messages++;
                lock.unlock();
                box.arrived.notify_one();
            } else {
                box.arrived.wait(lock, [&] { return box.messages > 0; });
                box.messages--;
                lock.unlock();
                box.taken.notify_one();
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    read_schedule(argv[1]);
    std::vector<std::thread> threads;
    for (int task = 0; task < tasks; task++) threads.emplace_back(play, task);
    for (auto &thread : threads) thread.join();
}
