package fleet

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// server answers each request after a time that depends on its ID alone.
type server struct{ epoch time.Time }

func (s server) now() int64 { return int64(time.Since(s.epoch)) }

func (s server) Encode(*workload.Request) ([]byte, error) { return nil, nil }

func (s server) Send(_ context.Context, req *workload.Request, _ []byte, rec *trace.Record) {
	rec.ID = req.ID
	h := fnv.New32()
	h.Write([]byte(req.ID))
	time.Sleep(time.Duration(h.Sum32()%1000) * time.Millisecond)
	rec.Done = trace.Instant(s.now())
}

// instants are the due times of what the driver sends, by ID, for a time if until is not 0.
func instants(t *testing.T, requests workload.List, due []time.Duration, until time.Duration) map[string]time.Duration {
	at := map[string]time.Duration{}
	synctest.Test(t, func(*testing.T) {
		s := server{time.Now()}
		d := driver.Driver{Sender: s, Now: s.now}
		out := d.Run(context.Background(), nil, driver.Plan{Requests: requests, Schedule: slices.Values(due), Until: until})
		for _, rec := range out.Records {
			at[rec.ID] = time.Duration(rec.Due)
		}
	})
	return at
}

// The driver sends of all shares together what it sends of the whole, when it would send it.
func TestTheDriverSendsTheSame(t *testing.T) {
	cut := 0
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		requests, n := make([]workload.Request, 40), 1+rnd.IntN(6)
		for i := range requests {
			requests[i].ID = strconv.Itoa(i)
			if i > 0 && rnd.IntN(3) > 0 {
				requests[i].After, requests[i].Think = 1+rnd.IntN(i), time.Duration(rnd.IntN(1e9))
			}
		}
		all := workload.Listed(requests)
		due := make([]time.Duration, rnd.IntN(20))
		for i := range due {
			due[i] = time.Duration(i) * 300 * time.Millisecond
		}
		until := time.Duration(rnd.IntN(2) * rnd.IntN(6e9)) // none for half of them
		want, got := instants(t, all, due, until), map[string]time.Duration{}
		for share := range n {
			mine, at, _ := Share(all, slices.Values(due), Owners(all, n), share)
			part := instants(t, mine, at, until)
			if len(part) != mine.N && until == 0 {
				t.Errorf("seed %d: the driver sent %d of the %d requests of share %d", seed, len(part), mine.N, share)
			}
			for id, instant := range part {
				got[id] = instant
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("seed %d, %d shares:\n%s", seed, n, d)
		}
		if len(want) < len(requests) {
			cut++
		}
	}
	if cut == 0 || cut == 30 {
		t.Errorf("%d of 30 schedules ended early: both kinds are to be tested", cut)
	}
}
