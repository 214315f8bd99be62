// Four goroutines, each on its own thread, print the CPUs that their thread may run on.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

func allowed() string {
	status, _ := os.ReadFile("/proc/thread-self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if list, found := strings.CutPrefix(line, "Cpus_allowed_list:"); found {
			return strings.TrimSpace(list)
		}
	}
	return "?"
}

func main() {
	var all, together sync.WaitGroup
	together.Add(4)
	lines := make([]string, 4)
	for i := range lines {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			// All four threads exist before the first one continues.
			together.Done()
			together.Wait()
			lines[i] = allowed()
		}()
	}
	all.Wait()
	for i, line := range lines {
		fmt.Println("goroutine", i, line)
	}
}
