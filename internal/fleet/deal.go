package fleet

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Owners returns the share, from 0 to n-1, that each request belongs to. It panics if n is less
// than 1, or if a request waits for itself or a later one, as the driver does.
func Owners(requests workload.List, n int) []int {
	if n < 1 {
		panic(fmt.Sprintf("deal: %d shares", n))
	}
	owners, next := make([]int, requests.N), 0
	for i := range owners {
		if before, waits := waitsFor(requests, i); waits {
			owners[i] = owners[before]
			continue
		}
		owners[i] = next
		if next++; next == n {
			next = 0
		}
	}
	return owners
}

// waitsFor returns the position of the request that request i waits for, if there is one.
func waitsFor(requests workload.List, i int) (before int, waits bool) {
	after := requests.Brief(i).After
	if after < 0 || after > i {
		panic(fmt.Sprintf("deal: request %d waits for request %d", i, after-1))
	}
	return after - 1, after > 0
}

// Share returns the requests of one share in their order, with After counted within the share; the
// due time of each of them that waits for no other, as driver.Plan has them; and the position of
// each in requests. As in the driver, due times are for the requests that wait for no other, in
// their order. Where they end early, the remaining requests and all that wait for those are left out: the
// driver would never send them.
func Share(requests workload.List, due iter.Seq[time.Duration], owners []int, share int) (mine workload.List, at []time.Duration, index []int) {
	const leftOut = -1
	places := make([]int32, requests.N) // of each request in mine
	instants, end := iter.Pull(due)
	defer end()
	more := true
	var after []int32 // of those in mine
	for i := range places {
		places[i] = leftOut
		before, waits := waitsFor(requests, i)
		var instant time.Duration
		if !waits && more {
			instant, more = instants()
		}
		if waits && places[before] == leftOut || !waits && !more || owners[i] != share {
			continue
		}
		places[i] = int32(len(index))
		index, after = append(index, i), append(after, 0)
		if waits {
			after[places[i]] = 1 + places[before]
		} else {
			at = append(at, instant)
		}
	}
	return sharedOf(requests, index, after), at, index
}

// sharedOf are the requests at some positions, with After counted among them.
func sharedOf(requests workload.List, index []int, after []int32) workload.List {
	mine := requests
	mine.N = len(index)
	mine.At = func(i int) *workload.Request {
		r := *requests.At(index[i])
		r.After = int(after[i])
		return &r
	}
	mine.Brief = func(i int) workload.Brief {
		b := requests.Brief(index[i])
		b.After = int(after[i])
		return b
	}
	return mine
}

// Places deals the places of a gate to n shares, as evenly as possible; the first get one more.
// With fewer places than shares the last get none: they may send nothing.
func Places(total, n int) []int {
	places := make([]int, n)
	for i := range places {
		places[i] = max(total, 0) / n
		if i < max(total, 0)%n {
			places[i]++
		}
	}
	return places
}

// Redeal deals the places of a gate again, after shares have ended or were lost. Those that are not active have
// none. An active one never has fewer than before: places cannot be taken from requests in flight. Free places go
// to those with the fewest. The sum is total unless there is no active share, or they have more already.
func Redeal(total int, active []bool, have []int) []int {
	places, free := make([]int, len(have)), total
	var order []int // active shares, those with the fewest places first
	for i := range have {
		if active[i] {
			places[i] = max(have[i], 0)
			free -= places[i]
			order = append(order, i)
		}
	}
	if free <= 0 || len(order) == 0 {
		return places
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	n, level := 1, places[order[0]] // the first n of order can all be raised to this level
	for n < len(order) && places[order[n]]-level <= free/n {
		free -= (places[order[n]] - level) * n
		level = places[order[n]]
		n++
	}
	for k, more := range Places(free, n) {
		places[order[k]] = level + more
	}
	return places
}
