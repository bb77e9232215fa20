package apiserver

import (
	"cmp"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Settings are what a user says of a server: what deployment it stands for, or with
// which latencies it answers.
type Settings struct {
	Profile        string            `json:"profile,omitempty"` // of the program, or a YAML file
	Set            []string          `json:"set,omitempty"`     // changes to the profile, as FIELD=VALUE
	TTFT           *arrival.Duration `json:"ttft,omitempty"`
	ITL            *arrival.Duration `json:"itl,omitempty"`
	PerPromptToken *arrival.Duration `json:"per_prompt_token,omitempty"` // added to the TTFT
	PerImage       *arrival.Duration `json:"per_image,omitempty"`        // likewise
	Slots          *int              `json:"slots,omitempty"`            // requests served at once; 0: no limit
	OutputLen      *arrival.Count    `json:"output_len,omitempty"`       // of answers that the model ends
	MaxModelLen    *int              `json:"max_model_len,omitempty"`
	Fault          []Fault           `json:"fault,omitempty"`
	Seed           uint64            `json:"seed,omitempty"`
	Pacing
}

// latencies are the settings that state latencies, and so leave no room for a profile.
func (s Settings) latencies() (given []string) {
	for _, l := range []struct {
		name string
		set  bool
	}{
		{"ttft", s.TTFT != nil},
		{"itl", s.ITL != nil},
		{"per_prompt_token", s.PerPromptToken != nil},
		{"per_image", s.PerImage != nil},
		{"slots", s.Slots != nil},
	} {
		if l.set {
			given = append(given, l.name)
		}
	}
	return given
}

// Config is the server that they describe: with the latencies they state, or else with
// the profile they name, which comes along. Files are read with read. The error is
// plan.Problems, or plan.Mistakes of a profile's file.
func (s Settings) Config(version string, read func(file string) ([]byte, error)) (Config, *profile.Profile, error) {
	cfg := Config{
		Model: profile.DefaultModel, Version: engineVersion(version), MaxModelLen: or(s.MaxModelLen, 0),
		Seed: s.Seed, OutputLen: or(s.OutputLen, arrival.Count{}), Faults: s.Fault,
	}
	var p plan.Problems
	given := s.latencies()
	p.If(len(given) > 0 && s.Profile != "", "profile", s.Profile, "a profile has timing of its own; leave it out, or %s",
		strings.Join(given, ", "))
	p.If(len(given) > 0 && len(s.Set) > 0, "set", nil, "only applies to a profile; leave it out, or %s",
		strings.Join(given, ", "))
	for _, name := range s.paced() {
		p.If(len(given) > 0, name, nil, "only applies to a profile; leave it out, or %s", strings.Join(given, ", "))
	}
	p.If(s.MaxModelLen != nil && (*s.MaxModelLen < 1 || *s.MaxModelLen > MaxContext), "max_model_len",
		or(s.MaxModelLen, 0), "must be a whole number from 1 to %d", MaxContext)
	p.If(s.Slots != nil && *s.Slots < 0, "slots", or(s.Slots, 0), "must be a whole number, or 0 for no limit")
	for i, f := range s.Fault {
		err := f.Validate()
		p.If(err != nil, plan.Item("fault", i), nil, "%v", err)
	}
	if p != nil {
		return cfg, nil, p
	}
	if len(given) == 0 {
		deployment, _, err := s.deployment(read)
		if err == nil {
			s.standFor(&cfg, deployment)
		}
		return cfg, deployment, err
	}
	cfg.Latency = engine.Latency{
		TTFT:           or(s.TTFT, arrival.FixedDuration(50*time.Millisecond)),
		ITL:            or(s.ITL, arrival.FixedDuration(10*time.Millisecond)),
		PerPromptToken: or(s.PerPromptToken, arrival.Duration{}), PerImage: or(s.PerImage, arrival.Duration{}),
		Slots: or(s.Slots, 0),
	}
	return cfg, nil, nil
}

// standFor lets the server stand for the deployment of a profile, where the settings do
// not say otherwise.
func (s Settings) standFor(cfg *Config, p *profile.Profile) {
	if s.OutputLen == nil {
		cfg.OutputLen = p.Model.OutputLen
	}
	cfg.Model, cfg.Adapters = cmp.Or(p.Model.Name, cfg.Model), p.Model.Adapters
	cfg.Version += ", profile " + p.Name
	cfg.Engine, cfg.Answers = &p.Engine, p.Answers
}

// Standing is the server that stands for a profile.
func Standing(version string, p *profile.Profile) Config {
	cfg := Config{Model: profile.DefaultModel, Version: engineVersion(version)}
	Settings{}.standFor(&cfg, p)
	return cfg
}

func engineVersion(version string) string { return "pitot-engine " + version }

// or is what p points at, or else value.
func or[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}
