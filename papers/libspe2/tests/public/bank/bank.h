#define ACCOUNTS 32
struct block {
    unsigned long long lock, accounts, done, go;
    unsigned int started, pad[23];
};
