// Equal pieces of work over as many goroutines as Go has processors; prints pieces a second.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

func piece(x uint64) uint64 {
	for i := 0; i < 1000000; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func main() {
	pieces, _ := strconv.Atoi(os.Args[1])
	work := make(chan uint64)
	var done sync.WaitGroup
	begun := time.Now()
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for seed := range work {
				piece(seed)
			}
		}()
	}
	for i := 0; i < pieces; i++ {
		work <- 88172645463325252 + uint64(i)
	}
	close(work)
	done.Wait()
	fmt.Printf("threads %d\n%.3f\n", runtime.GOMAXPROCS(0), float64(pieces)/time.Since(begun).Seconds())
}
