package engine

import "time"

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
