// Prints the number of threads that Go runs at once, and Go's version.
package main

import (
	"fmt"
	"runtime"
)

func main() {
	fmt.Println(runtime.GOMAXPROCS(0), runtime.Version())
}
