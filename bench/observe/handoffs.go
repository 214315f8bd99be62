// Two goroutines on one thread that hand each other a value: what a hand-over takes, in nanoseconds.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func main() {
	turns, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	runtime.GOMAXPROCS(1)
	there, back := make(chan int), make(chan int)
	go func() {
		for value := range there {
			back <- value
		}
	}()
	begun := time.Now()
	for turn := 0; turn < turns; turn++ {
		there <- turn
		<-back
	}
	fmt.Printf("%.0f ns\n", float64(time.Since(begun).Nanoseconds())/float64(2*turns))
}
