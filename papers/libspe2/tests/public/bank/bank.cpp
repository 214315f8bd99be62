#include <libspe2.h>
#include <libsync.h>
#include <thread>
#include <vector>
#include <memory>
#include <iostream>
#include <stdexcept>
#include <numeric>
#include <cstdlib>
#include "bank.h"
extern "C" spe_program_handle_t bank_spu;

class Spe {
public:
    Spe(spe_gang_context_ptr_t gang, spe_context_ptr_t neighbour)
        : ctx(spe_context_create_affinity(0, neighbour, gang)) {
        if (!ctx) throw std::runtime_error("spe_context_create_affinity");
        if (spe_program_load(ctx, &bank_spu)) throw std::runtime_error("spe_program_load");
    }
    Spe(const Spe &) = delete;
    ~Spe() { if (worker.joinable()) worker.join(); spe_context_destroy(ctx); }
    void start(void *argp, unsigned long seed) {
        worker = std::thread([=] {
            unsigned int entry = SPE_DEFAULT_ENTRY;
            spe_stop_info_t info;
            result = spe_context_run(ctx, &entry, 0, argp, (void *)seed, &info);
            if (result == 0 && info.stop_reason == SPE_EXIT) result = info.result.spe_exit_code;
        });
    }
    int join() { worker.join(); return result; }
    spe_context_ptr_t ctx;
private:
    std::thread worker;
    int result = -1;
};

alignas(128) static int mutex_word[32];
alignas(128) static int cond_word[32];
alignas(128) static int done_word[32];
alignas(128) static int accounts[ACCOUNTS];
alignas(128) static block shared_block;

int main()
{
    const int n = std::min(4, spe_cpu_info_get(SPE_COUNT_USABLE_SPES, -1));
    for (int &a : accounts) a = 100;
    mutex_ea_t lock = (mutex_ea_t)(unsigned long)mutex_word;
    cond_ea_t go = (cond_ea_t)(unsigned long)cond_word;
    mutex_init(lock);
    cond_init(go);
    atomic_set((atomic_ea_t)(unsigned long)done_word, 0);
    shared_block = {lock, (unsigned long)accounts, (unsigned long)done_word, go, 0, {}};
    auto gang = spe_gang_context_create(0);
    {
        std::vector<std::unique_ptr<Spe>> spes;
        for (int i = 0; i < n; i++) {
            spes.push_back(std::make_unique<Spe>(gang, i ? spes.back()->ctx : nullptr));
            spes.back()->start(&shared_block, 17 * i + 3);
        }
        mutex_lock(lock);
        shared_block.started = 1;
        cond_broadcast(go);
        mutex_unlock(lock);
        for (int i = 0; i < 50; i++) {
            mutex_lock(lock);
            accounts[i % ACCOUNTS] += 1, accounts[(i + 7) % ACCOUNTS] -= 1;
            mutex_unlock(lock);
        }
        for (auto &spe : spes)
            if (spe->join() != 0) { std::cerr << "an SPE failed\n"; return 1; }
    }
    spe_gang_context_destroy(gang);
    int sum = std::accumulate(accounts, accounts + ACCOUNTS, 0);
    std::cout << "sum " << sum << " done " << (atomic_read((atomic_ea_t)(unsigned long)done_word) == 50 * n) << std::endl;
    return sum != 3200 || atomic_read((atomic_ea_t)(unsigned long)done_word) != 50 * n;
}
