package engine

// A router selects the replica of a job.
type router func(s *Seq, replicas []*replica) int

func newRouter(c Config) router {
	switch c.Replicas.Router {
	case "least-loaded":
		return leastLoaded
	case "prefix-aware":
		return (&prefixAware{block: c.KV.Block, seen: make(map[uint64]int)}).route
	}
	turn := -1
	return func(_ *Seq, replicas []*replica) int {
		turn++
		return turn % len(replicas)
	}
}

// leastLoaded selects the replica with the fewest jobs, the first of several.
func leastLoaded(_ *Seq, replicas []*replica) int {
	least := 0
	for i, r := range replicas {
		if r.load < replicas[least].load {
			least = i
		}
	}
	return least
}

// prefixAware selects the replica that last received the longest prefix of the
// prompt, unless it has far more jobs than another; then, and for a new prompt, the
// least loaded one.
type prefixAware struct {
	block int
	seen  map[uint64]int // replica by the hash of a prefix
}

// Limits of the prefix-aware router: the allowed difference in load from the least
// loaded replica, and the number of prefixes remembered.
const (
	imbalance  = 32
	beginnings = 1 << 20
)

func (p *prefixAware) route(s *Seq, replicas []*replica) int {
	hashes := s.hashBlocks(p.block)
	chosen := leastLoaded(s, replicas)
	limit := replicas[chosen].load + imbalance
	for i := len(hashes) - 1; i >= 0; i-- {
		if r, ok := p.seen[hashes[i]]; ok {
			if replicas[r].load <= limit {
				chosen = r
			}
			break
		}
	}
	if len(p.seen) > beginnings {
		clear(p.seen)
	}
	for _, h := range hashes {
		p.seen[h] = chosen
	}
	return chosen
}
