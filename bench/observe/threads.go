// A schedule on goroutines, each locked to a thread. The messages are values in channels or
// bytes in pipes, with room for eight.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

const (
	setName     = 15
	setPipeSize = 1031
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	byPipe := os.Args[2] == "pipe"
	lines := bufio.NewScanner(file)
	lines.Scan()
	var tasks, rounds, work int
	fmt.Sscan(lines.Text(), &tasks, &rounds, &work)
	boxes := make([]chan byte, tasks*tasks)
	pipes := make([][2]int, tasks*tasks)
	for i := range boxes {
		boxes[i] = make(chan byte, 8)
		if byPipe {
			syscall.Pipe(pipes[i][:])
			syscall.Syscall(syscall.SYS_FCNTL, uintptr(pipes[i][0]), setPipeSize, 4096)
		}
	}
	var all sync.WaitGroup
	for task := 0; task < tasks; task++ {
		lines.Scan()
		steps := strings.Fields(lines.Text())
		all.Add(1)
		go func(task int) {
			defer all.Done()
			runtime.LockOSThread()
			name := append([]byte(fmt.Sprintf("w%d", task)), 0)
			syscall.RawSyscall(syscall.SYS_PRCTL, setName, uintptr(unsafe.Pointer(&name[0])), 0)
			message := make([]byte, 512)
			sum := 0
			for round := 0; round < rounds; round++ {
				for i := 0; i < work; i++ {
					sum += i
				}
				for _, step := range steps {
					var other int
					fmt.Sscan(step[1:], &other)
					switch {
					case step[0] == '+' && byPipe:
						syscall.Write(pipes[task*tasks+other][1], message)
					case step[0] == '+':
						boxes[task*tasks+other] <- 1
					case byPipe:
						syscall.Read(pipes[other*tasks+task][0], message)
					default:
						<-boxes[other*tasks+task]
					}
				}
			}
		}(task)
	}
	all.Wait()
}
