package engine

import "time"

// A Deployment is the Model of a Config: replicas behind a router.
type Deployment struct {
	replicas []*replica
	router   router
	jobs     map[uint64]*Seq // unfinished
	spare    []*Seq          // finished, to be used again
}

// New returns an idle deployment. The error is that of Validate.
func New(c Config) (*Deployment, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	d := &Deployment{jobs: make(map[uint64]*Seq)}
	for n := range c.Replicas.Count {
		d.replicas = append(d.replicas, newReplica(c, n))
	}
	d.router = newRouter(c)
	return d, nil
}

// Context is the longest context of c, prompt and output together.
func (c Config) Context() int { return c.withDefaults().MaxModelLen }

// Add routes a job to a replica.
func (d *Deployment) Add(now time.Duration, j Job) {
	s := d.seq(j)
	r := d.replicas[0]
	if len(d.replicas) > 1 {
		r = d.replicas[d.router(s, d.replicas)]
	}
	r.load++
	s.replica = r
	d.jobs[j.ID] = s
	r.front.enter(now, s)
}

// seq is a new sequence, or a finished one as new.
func (d *Deployment) seq(j Job) *Seq {
	last := len(d.spare) - 1
	if last < 0 {
		return newSeq(j)
	}
	s := d.spare[last]
	d.spare = d.spare[:last]
	s.reset(j)
	return s
}

// Cancel removes a job and frees its resources.
func (d *Deployment) Cancel(_ time.Duration, id uint64) {
	if s := d.jobs[id]; s != nil {
		d.forget(s)
		s.replica.cancel(s)
	}
}

func (d *Deployment) forget(s *Seq) {
	s.replica.load--
	delete(d.jobs, s.ID)
}

// Next is the instant of the next event in any replica.
func (d *Deployment) Next() (time.Duration, bool) {
	t := forever
	for _, r := range d.replicas {
		t = min(t, r.next())
	}
	return t, t < forever
}

// Step advances to now.
func (d *Deployment) Step(now time.Duration, out []Emission) []Emission {
	out, _ = d.run(now, out, false)
	return out
}

// Run advances to limit, but not beyond the instant at which a job is done, nor
// much longer than it takes to fill out. It returns the instant it reached. It
// replaces Step for callers that would otherwise call Next for every event.
func (d *Deployment) Run(limit time.Duration, out []Emission) ([]Emission, time.Duration) {
	return d.run(limit, out, true)
}

func (d *Deployment) run(limit time.Duration, out []Emission, early bool) ([]Emission, time.Duration) {
	had, ended := len(out), d.ended()
	var at time.Duration
	if len(d.replicas) == 1 {
		out, at = d.replicas[0].advance(limit, out, early)
	} else {
		out, at = d.runAll(limit, out, early)
	}
	for i, all := had, d.ended(); ended < all; i++ {
		if e := &out[i]; e.Done {
			s := d.jobs[e.ID]
			d.forget(s)
			s.Job, s.hashes = Job{}, nil // prompts are long
			d.spare = append(d.spare, s)
			ended++
		}
	}
	return out, at
}

// ended counts the jobs with their last emission returned.
func (d *Deployment) ended() (n int) {
	for _, r := range d.replicas {
		n += r.front.ended
	}
	return n
}

// runAll advances the replica with the earliest event, until another one is
// earlier.
func (d *Deployment) runAll(limit time.Duration, out []Emission, early bool) ([]Emission, time.Duration) {
	ended := d.ended()
	for {
		first, t, other := d.replicas[0], forever, limit
		for _, r := range d.replicas {
			switch at := r.next(); {
			case at < t:
				first, t, other = r, at, min(other, t)
			default:
				other = min(other, at)
			}
		}
		if t > limit {
			return out, limit
		}
		out, t = first.advance(max(t, other-1), out, early)
		if early && (d.ended() > ended || len(out) > cap(out)*3/4) {
			return out, t
		}
	}
}

// Heads reports whether each job has an emission without tokens when the head of its response
// leaves. Otherwise it leaves at once.
func (d *Deployment) Heads() bool { return d.replicas[0].front.loop != nil }

// Load sums up the replicas.
func (d *Deployment) Load() Utilization {
	var l Utilization
	for _, r := range d.replicas {
		for _, s := range r.servers {
			s.addTo(&l)
		}
		held, total := r.decode.kv.Blocks()
		l.KV += float64(held) / float64(total) / float64(len(d.replicas))
	}
	return l
}

func (c *Core) addTo(l *Utilization) {
	l.Running += len(c.running)
	l.Waiting += c.waiting.len()
	l.Steps += c.counters.Steps
	l.Prefilled += c.counters.Prefilled
	l.Decoded += c.counters.Decoded
	l.Preemptions += c.counters.Preemptions
	l.PrefixQueried += c.counters.PrefixQueried
	l.PrefixHit += c.counters.PrefixHit
	l.Drafts += c.counters.Drafts
	l.Drafted += c.counters.Drafted
	l.Accepted += c.counters.Accepted
	for i, n := range c.counters.AcceptedAt {
		l.AcceptedAt[i] += n
	}
}

// Flush empties the prefix caches, except for blocks in use.
func (d *Deployment) Flush() {
	for _, r := range d.replicas {
		for _, s := range r.servers {
			s.kv.Flush()
		}
	}
}

// A Step is a step of one engine, as Watch shows it.
type Step struct {
	Took time.Duration
	Work
}

// Watch has f called for every step of every replica from now on, when it begins.
func (d *Deployment) Watch(f func(Step)) {
	for _, r := range d.replicas {
		for _, s := range r.servers {
			s.watch = f
		}
	}
}
