package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// ForWorkers is the part of a Spec that workers need: the steps before and after the requests are the controller's.
// A worker applies it to every Order too, so that no Spec can have it start a program, wait for hours or listen.
func ForWorkers(s plan.Spec) plan.Spec {
	s.Before, s.After, s.Cache = plan.Before{}, plan.After{}, ""
	s.Before.Ready.Connect = plan.Duration(connectLimit)
	s.Telemetry = plan.Telemetry{Sources: []string{"none"}}
	s.Target.Site, s.Target.Tree, s.Target.Engine, s.Target.Simulated = nil, "", nil, false
	return s
}

// connectLimit is how long a worker waits for the server to accept its connection.
const connectLimit = 5 * time.Second

// IsWorker reports whether a text can be the ID of a Worker, which is part of subjects; see Key.
func IsWorker(id string) bool { return workerID.MatchString(id) }

var workerID = lazy.Regexp(`^[0-9a-f]{64}$`)

// MaxLead is how far ahead the instant of a Start can be.
const MaxLead = time.Minute

// Check reports problems with a Start of a run with so many places, at an instant of the clock
// that At is on; nil: nothing.
func (s Start) Check(places int, now int64) error {
	switch {
	case s.Of < 1 || s.Share < 0 || s.Share >= s.Of:
		return fmt.Errorf("there is no share %d of %d", s.Share, s.Of)
	case s.Most != places || s.Places < 0 || s.Places > s.Most:
		return fmt.Errorf("%d of %d places are no part of the %d of the run", s.Places, s.Most, places)
	case s.At <= now:
		return errors.New("the instant of the start is over")
	case s.At > now+int64(MaxLead):
		return fmt.Errorf("the instant of the start is more than %v ahead", MaxLead)
	}
	return nil
}

// Check reports problems with a Heading that was read under the id of a run; nil: nothing.
func (h Heading) Check(run string) error {
	n := len(h.Workers)
	switch {
	case h.Fleet != run || !IsRun(h.Fleet):
		return fmt.Errorf("it is that of run %.64q", h.Fleet)
	case n == 0 || len(h.Start) != n || len(h.Bounds) != n:
		return fmt.Errorf("it has %d workers, %d starts and %d clocks", n, len(h.Start), len(h.Bounds))
	case h.Run.Plan.Spec == nil || !IsRun(h.Run.ID):
		return errors.New("it has no plan, or no run")
	}
	for i, s := range h.Start {
		if !IsWorker(h.Workers[i].ID) || s.Share != i || s.Of != n {
			return fmt.Errorf("worker %d has share %d of %d", i, s.Share, s.Of)
		}
	}
	return nil
}
