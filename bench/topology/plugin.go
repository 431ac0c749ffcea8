package main

// NVIDIA's device plugin asks its best-effort policy which of the free GPUs a container gets. This models the policy of
// github.com/NVIDIA/go-gpuallocator: a pair scores by its way over PCIe and by its NVLinks; the free GPUs are divided into
// sets of the size asked for in every possible way, the way with the greatest sum of scores wins, and of its sets the one
// that scores highest is given out. What scores equal is decided by the order of the GPUs, ascending.

// busScores are the scores of the ways over PCIe. A board with two GPUs would score 60; none of the kinds has such.
var busScores = map[string]int{"SYS": 10, "NODE": 20, "PHB": 30, "PXB": 40, "PIX": 50}

// padding fills the sets up where the free GPUs can't be divided evenly.
const padding = -1

func (k *kind) pairScore(a, b int) int {
	if a == padding || b == padding {
		return 0
	}
	score := busScores[k.buses[a][b]]
	if !k.switched {
		score += 100 * nvlinks(k.links[a][b])
	}
	return score
}

func (k *kind) setScore(gpus []int) int {
	score := 0
	for i, a := range gpus {
		for _, b := range gpus[i+1:] {
			score += k.pairScore(a, b)
		}
	}
	return score
}

// handedOut is the set of so many of the free GPUs that the policy gives out; 0 if fewer are free.
func (k *kind) handedOut(free set, count int) set {
	gpus := free.gpus()
	if count < 1 || count > len(gpus) {
		return 0
	}
	if count == 1 { // every single GPU scores 0
		return setOf(gpus[0])
	}
	for len(gpus)%count != 0 {
		gpus = append(gpus, padding)
	}
	search := division{kind: k, count: count, padded: len(gpus) - free.count(), best: -1}
	search.divide(gpus, nil)
	given, most := []int(nil), -1
	for _, candidate := range search.winner {
		if score := k.setScore(candidate); score > most && padded(candidate) == 0 {
			given, most = candidate, score
		}
	}
	return setOf(given...)
}

// division searches all ways to divide GPUs into sets of `count`.
type division struct {
	kind   *kind
	count  int
	padded int
	best   int
	winner [][]int
}

// divide divides the rest, given the sets that are taken already. The first GPU of the rest is in the next set, so that no
// division is seen twice.
func (d *division) divide(rest []int, taken [][]int) {
	if len(rest) == 0 {
		score := 0
		for _, candidate := range taken {
			score += d.kind.setScore(candidate)
		}
		if score > d.best {
			d.best, d.winner = score, append([][]int(nil), taken...)
		}
		return
	}
	d.choose(rest[1:], []int{rest[0]}, nil, taken)
}

// choose completes a set out of `open`; `left` are those that were passed over.
func (d *division) choose(open, chosen, left []int, taken [][]int) {
	if len(chosen) == d.count {
		// All padding goes into one set: the others are full, as the one given out must be.
		if n := padded(chosen); n == 0 || n == d.padded {
			rest := append(append([]int(nil), left...), open...)
			d.divide(rest, append(taken, append([]int(nil), chosen...)))
		}
		return
	}
	if len(open) == 0 {
		return
	}
	d.choose(open[1:], append(chosen, open[0]), left, taken)
	d.choose(open[1:], chosen, append(left[:len(left):len(left)], open[0]), taken)
}

func padded(gpus []int) int {
	n := 0
	for _, gpu := range gpus {
		if gpu == padding {
			n++
		}
	}
	return n
}
