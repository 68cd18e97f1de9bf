// SPDX-License-Identifier: Apache-2.0

// Goroutines as a peer; README.md describes the arguments and the output.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	var a int
	var child sync.WaitGroup
	child.Add(1)
	go func() {
		a = fib(n - 1)
		child.Done()
	}()
	b := fib(n - 2)
	child.Wait()
	return a + b
}

func serialFib(n int) int {
	a, b := 0, 1
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	return a
}

func runFib(n int) (time.Duration, bool) {
	begin := time.Now()
	result := fib(n)
	return time.Since(begin), result == serialFib(n)
}

// The standard library has no barrier; this is the usual one of a mutex and a condition variable.
type barrier struct {
	lock    sync.Mutex
	changed *sync.Cond
	members int
	arrived int
	phase   int
}

func (b *barrier) wait() {
	b.lock.Lock()
	defer b.lock.Unlock()
	phase := b.phase
	b.arrived++
	if b.arrived == b.members {
		b.arrived = 0
		b.phase++
		b.changed.Broadcast()
		return
	}
	for b.phase == phase {
		b.changed.Wait()
	}
}

// Two checked phases, in which all members start; the counted ones; one checked phase.
func runBarrier(members, phases int) (time.Duration, bool) {
	b := barrier{members: members}
	b.changed = sync.NewCond(&b.lock)
	reached := make([]struct {
		phase atomic.Int64
		_     [56]byte
	}, members)
	var wrong atomic.Bool
	var seconds time.Duration
	checked := func(member int, phase int64) {
		reached[member].phase.Store(phase)
		b.wait()
		if reached[(member+1)%members].phase.Load() < phase {
			wrong.Store(true)
		}
	}
	var all sync.WaitGroup
	all.Add(members)
	for i := 0; i < members; i++ {
		go func(member int) {
			defer all.Done()
			checked(member, 1)
			checked(member, 2)
			begin := time.Now()
			for phase := 0; phase < phases; phase++ {
				b.wait()
			}
			if member == 0 {
				seconds = time.Since(begin)
			}
			checked(member, 3)
		}(i)
	}
	all.Wait()
	return seconds, !wrong.Load()
}

func main() {
	numbers := make([]int, 0, 3)
	for i := 2; i < len(os.Args); i++ {
		number, err := strconv.Atoi(os.Args[i])
		if err != nil {
			break
		}
		numbers = append(numbers, number)
	}
	var run func() (time.Duration, bool)
	if len(numbers) == 2 && os.Args[1] == "fib" {
		run = func() (time.Duration, bool) { return runFib(numbers[1]) }
	} else if len(numbers) == 3 && os.Args[1] == "barrier" {
		run = func() (time.Duration, bool) { return runBarrier(numbers[1], numbers[2]) }
	} else {
		fmt.Fprintln(os.Stderr, "usage: peer fib WORKERS N | barrier WORKERS MEMBERS PHASES")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(numbers[0])
	_, verified := run()
	least := time.Hour
	for i := 0; i < 3; i++ {
		seconds, right := run()
		if seconds < least {
			least = seconds
		}
		verified = verified && right
	}
	fmt.Printf("{\"seconds\":%.9f,\"verified\":%t}\n", least.Seconds(), verified)
}
