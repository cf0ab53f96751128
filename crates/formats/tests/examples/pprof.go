// Writes the example beside it, a profile of CPU time as Go's runtime takes it:
//
//	go build -trimpath -o /tmp/spin pprof.go && /tmp/spin > pprof
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"time"
)

//go:noinline
func spin(rounds int) (sum int) {
	for i := 0; i < rounds; i++ {
		sum += step(sum, i)
	}
	return sum
}

func step(sum, i int) int { return sum ^ i*7 }

func main() {
	if err := pprof.StartCPUProfile(os.Stdout); err != nil {
		panic(err)
	}
	pprof.Do(context.Background(), pprof.Labels("request", "GET /"), func(context.Context) {
		for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
			spin(10_000)
		}
	})
	pprof.StopCPUProfile()
}
