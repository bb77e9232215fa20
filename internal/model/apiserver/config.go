package apiserver

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

// MaxContext is the largest Config.MaxModelLen: as many tokens as a write's
// stamp can count.
const MaxContext = engine.MaxContext

// A Config describes a server. Its zero value is valid: a model named "pitot"
// that answers at once.
type Config struct {
	Model    string   // name it serves; "pitot" if empty
	Adapters []string // LoRA adapters it serves in addition to Model, by the names that requests give as model
	Version  string   // what /version says; "pitot" if empty
	// MaxModelLen limits prompt and output tokens together. If 0: Engine's limit, or, if it has
	// none, 131072 or as many as Engine holds.
	MaxModelLen int
	Seed        uint64         // of every draw of this start
	Latency     engine.Latency // when tokens come
	Engine      *engine.Config // what decides it in place of Latency, if not nil; its Seed is not looked at
	OutputLen   arrival.Count  // natural length of an answer; lognormal(256,0.5) if not set
	// Answers are how answers depend on the start; nil: their text is drawn from the prompt alone.
	Answers *profile.Answers
	APIKey  string // required as bearer token but for health, if not empty

	Role Role // in a deployment that separates prefill and decode; empty: both

	Faults     []Fault
	StallLimit time.Duration // how long FaultStall holds a connection; 5 min if 0

	Precise     bool // tokens leave within microseconds of their time, not within a millisecond; not in virtual time
	TruthLimit  int  // newest requests stored for /pitot/truth; 100 000 if 0
	TruthWrites int  // writes stored over all these requests, 24 bytes each; 10 000 000 if 0
}

// A Role is what a worker does behind a router that separates prefill and decode, such as
// sglang-router: it sends each request, with bootstrap_host, bootstrap_port and bootstrap_room
// added, to a worker of each role, and passes on the answer of the second.
type Role string

// The roles. A prefill worker gives the first token and hands its cache over. A decode
// worker gives the full answer; no cache is transferred here, so it computes the prompt
// itself, which takes as long as on the other worker.
const (
	RolePrefill Role = "prefill"
	RoleDecode  Role = "decode"
)

// Validate reports everything wrong with c at once.
func (c Config) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MaxModelLen", int64(c.MaxModelLen)},
		{"Latency.Slots", int64(c.Latency.Slots)},
		{"StallLimit", int64(c.StallLimit)},
		{"TruthLimit", int64(c.TruthLimit)},
		{"TruthWrites", int64(c.TruthWrites)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("%s is negative", f.name))
		}
	}
	if c.MaxModelLen > MaxContext {
		errs = append(errs, fmt.Errorf("MaxModelLen is above %d", MaxContext))
	}
	if c.Role != "" && c.Role != RolePrefill && c.Role != RoleDecode {
		errs = append(errs, fmt.Errorf("Role %q is neither %s nor %s", c.Role, RolePrefill, RoleDecode))
	}
	errs = append(errs, c.validateAdapters()...)
	errs = append(errs, validateFaults(c.Faults)...)
	return errors.Join(append(errs, c.validateEngine())...)
}

func (c Config) validateAdapters() []error {
	var errs []error
	seen := map[string]bool{c.withDefaults().Model: true}
	for _, name := range c.Adapters {
		if name == "" {
			errs = append(errs, errors.New("an adapter has no name"))
		}
		if seen[name] {
			errs = append(errs, fmt.Errorf("adapter %s: the name is taken already", name))
		}
		seen[name] = true
	}
	return errs
}

// validateEngine joins the engine's own problems and a context that it cannot hold.
func (c Config) validateEngine() error {
	if c.Engine == nil {
		return nil
	}
	if held := c.Engine.Context(); c.MaxModelLen > held {
		return errors.Join(c.Engine.Validate().Err(),
			fmt.Errorf("MaxModelLen is %d, above the context of the engine, %d tokens", c.MaxModelLen, held))
	}
	return c.withDefaults().deployment().Validate().Err()
}

// deployment is the engine as this server runs it, with its defaults set: a
// lower MaxModelLen here is its own too, so that what only a longer request
// would not fit is no mistake.
func (c Config) deployment() engine.Config {
	e := *c.Engine
	e.Seed, e.MaxModelLen = c.Seed, c.MaxModelLen
	return e
}

// startedAt is c for a server that starts at an instant of the wall clock.
func (c Config) startedAt(now time.Time) Config {
	if c.Engine != nil {
		e := c.Engine.StartedAt(now)
		c.Engine = &e
	}
	return c
}

// NewModel makes what decides when tokens come from a server of this
// configuration.
func (c Config) NewModel() (engine.Model, error) {
	c = c.withDefaults()
	if c.Engine == nil {
		return engine.NewLatencyModel(c.Latency, c.Seed), nil
	}
	return engine.New(c.deployment())
}

// PrefixCache tells whether prompts are found again.
func (c Config) PrefixCache() bool {
	e := c.Engine
	return e != nil && (e.KV.PrefixCache || e.Disaggregation != nil && e.Disaggregation.KV.PrefixCache)
}

// Drafts is the number of tokens that speculative decoding drafts, 0 without it.
func (c Config) Drafts() int {
	if c.Engine == nil || c.Engine.Speculative == nil {
		return 0
	}
	return c.Engine.Speculative.Drafts
}

// looksAtPrompts tells whether it matters to the model what a prompt says.
func (c Config) looksAtPrompts() bool {
	return c.PrefixCache() || c.Engine != nil && c.Engine.Replicas.Router == "prefix-aware"
}

func validateFaults(faults []Fault) []error {
	var errs []error
	seen := make(map[Fault]bool)
	for _, f := range faults {
		if err := f.Validate(); err != nil {
			errs = append(errs, err)
		}
		f.Share = 0
		if seen[f] {
			errs = append(errs, fmt.Errorf("fault %s is given twice with the same tokens", f.Name))
		}
		seen[f] = true
	}
	return errs
}

func (c Config) withDefaults() Config {
	c.Model = cmp.Or(c.Model, "pitot")
	c.Version = cmp.Or(c.Version, "pitot")
	if c.Engine != nil {
		c.MaxModelLen = cmp.Or(c.MaxModelLen, c.Engine.Context())
	}
	c.MaxModelLen = cmp.Or(c.MaxModelLen, engine.DefaultContext)
	c.OutputLen = cmp.Or(c.OutputLen, arrival.LognormalCount(256, 0.5))
	c.StallLimit = cmp.Or(c.StallLimit, 5*time.Minute)
	c.TruthLimit = cmp.Or(c.TruthLimit, 100_000)
	c.TruthWrites = cmp.Or(c.TruthWrites, 10_000_000)
	return c
}
