package main

import (
	"fmt"
	"math/rand/v2"

	"berth.dev/berth/testbed/bench/arrivals"
)

// sizes of jobs, as shares of 100: most ask for a power of two, and every number up to eight occurs.
var sizes = []struct{ gpus, share int }{{1, 22}, {2, 24}, {3, 6}, {4, 22}, {5, 4}, {6, 6}, {7, 2}, {8, 14}}

// makeJobs are jobs in the order in which they arrive. The later one arrives, the later it ends: about when a third of the
// jobs have come after it.
func makeJobs(seed uint64, n int) []arrivals.Job {
	random := rand.New(rand.NewPCG(seed, 0))
	jobs := make([]arrivals.Job, n)
	for i := range jobs {
		jobs[i] = arrivals.Job{Name: fmt.Sprintf("job-%03d", i), GPUs: pickSize(random), Ends: endOf(random, i, n)}
	}
	return jobs
}

func endOf(random *rand.Rand, i, n int) float64 { return 3*float64(i)/float64(n) + random.Float64() }

func pickSize(random *rand.Rand) int {
	at := random.IntN(100)
	for _, size := range sizes {
		if at -= size.share; at < 0 {
			return size.gpus
		}
	}
	panic("the shares are less than 100")
}

// makeGroups are gangs of four whole nodes with other jobs between them: one arrival in five is a gang.
func makeGroups(seed uint64, gangs int) [][]arrivals.Job {
	random := rand.New(rand.NewPCG(seed, 1))
	n := gangEvery * gangs
	groups := make([][]arrivals.Job, n)
	for i := range groups {
		if i%gangEvery != gangEvery-1 {
			groups[i] = []arrivals.Job{{Name: fmt.Sprintf("job-%03d", i), GPUs: pickSize(random), Ends: endOf(random, i, n)}}
			continue
		}
		ends := endOf(random, i, n)
		for member := range gangSize {
			groups[i] = append(groups[i], arrivals.Job{Name: fmt.Sprintf("gang-%03d-%d", i, member), GPUs: gpusPerNode, Ends: ends})
		}
	}
	return groups
}
