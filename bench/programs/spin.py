"""Equal pieces of work over a pool of processes, one for each CPU; prints pieces a second."""
import multiprocessing
import os
import sys
import time


def piece(x):
    for _ in range(20000):
        x ^= x << 13 & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= x << 17 & 0xFFFFFFFFFFFFFFFF
    return x


def main():
    pieces = int(sys.argv[1])
    cpus = len(os.sched_getaffinity(0))
    with multiprocessing.Pool(cpus) as pool:
        pool.map(piece, range(1, 2 * cpus + 1))
        begun = time.perf_counter()
        pool.map(piece, range(1, pieces + 1), chunksize=4)
        print(f"threads {cpus}\n{pieces / (time.perf_counter() - begun):.3f}")


if __name__ == "__main__":
    main()
