package apiserver

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/dist"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Settings are what a user says of a server: what deployment it stands for, or with
// which latencies it answers.
type Settings struct {
	Profile        string         `json:"profile,omitempty"` // of the program, or a YAML file
	TTFT           *dist.Duration `json:"ttft,omitempty"`
	ITL            *dist.Duration `json:"itl,omitempty"`
	PerPromptToken *dist.Duration `json:"per_prompt_token,omitempty"` // added to the TTFT
	PerImage       *dist.Duration `json:"per_image,omitempty"`        // likewise
	Slots          *int           `json:"slots,omitempty"`            // requests served at once; 0: no limit
	OutputLen      *dist.Count    `json:"output_len,omitempty"`       // of answers whose end is up to the model
	MaxModelLen    *int           `json:"max_model_len,omitempty"`
	Fault          []Fault        `json:"fault,omitempty"`
	Seed           uint64         `json:"seed,omitempty"`
	Pacing
}

// latencies are the settings that state latencies, and so leave no room for a profile.
func (s Settings) latencies() (given []string) {
	for _, l := range []struct {
		name string
		set  bool
	}{
		{"ttft", s.TTFT != nil}, {"itl", s.ITL != nil}, {"per_prompt_token", s.PerPromptToken != nil}, {"per_image", s.PerImage != nil}, {"slots", s.Slots != nil},
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
		Seed: s.Seed, OutputLen: or(s.OutputLen, dist.Count{}), Faults: s.Fault,
	}
	var p plan.Problems
	given := s.latencies()
	p.If(len(given) > 0 && s.Profile != "", "profile", s.Profile, "a profile has timing of its own; leave it out, or %s", strings.Join(given, ", "))
	for _, name := range s.paced() {
		p.If(len(given) > 0, name, nil, "only applies to a profile; leave it out, or %s", strings.Join(given, ", "))
	}
	p.If(s.MaxModelLen != nil && (*s.MaxModelLen < 1 || *s.MaxModelLen > MaxContext), "max_model_len", or(s.MaxModelLen, 0), "must be a whole number from 1 to %d", MaxContext)
	p.If(s.Slots != nil && *s.Slots < 0, "slots", or(s.Slots, 0), "must be a whole number, or 0 for no limit")
	for i, f := range s.Fault {
		err := f.Validate()
		p.If(err != nil, plan.Item("fault", i), nil, "%v", err)
	}
	if p != nil {
		return cfg, nil, p
	}
	if len(given) == 0 {
		deployment, err := s.deployment(read)
		if err == nil {
			s.standFor(&cfg, deployment)
		}
		return cfg, deployment, err
	}
	cfg.Latency = engine.Latency{
		TTFT: or(s.TTFT, dist.Constant(50*time.Millisecond)), ITL: or(s.ITL, dist.Constant(10*time.Millisecond)),
		PerPromptToken: or(s.PerPromptToken, dist.Duration{}), PerImage: or(s.PerImage, dist.Duration{}), Slots: or(s.Slots, 0),
	}
	return cfg, nil, nil
}

// deployment is a profile with what the settings change of it.
func (s Settings) deployment(read func(string) ([]byte, error)) (*profile.Profile, error) {
	p, err := ReadProfile(cmp.Or(s.Profile, profile.Default), read)
	if err != nil {
		return p, err
	}
	if err := s.pace(&p.Engine); err != nil {
		return nil, err
	}
	if s.MaxModelLen == nil {
		return p, nil
	}
	p.Engine.MaxModelLen = *s.MaxModelLen
	if problems := p.Engine.Validate(); problems != nil {
		return nil, plan.Problems{{Path: "max_model_len", Value: strconv.Itoa(*s.MaxModelLen), Why: "profile " + p.Name + ": " + problems.Error()}}
	}
	return p, nil
}

// standFor lets the server stand for the deployment of a profile, where the settings do
// not say otherwise.
func (s Settings) standFor(cfg *Config, p *profile.Profile) {
	if s.OutputLen == nil {
		cfg.OutputLen = p.Model.OutputLen
	}
	cfg.Model, cfg.Adapters = cmp.Or(p.Model.Name, cfg.Model), p.Model.Adapters
	cfg.Version += ", profile " + p.Name
	cfg.Engine = &p.Engine
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

// ReadProfile reads a profile of the program, or a file if the name is that of one: a
// path, or with the ending of YAML.
func ReadProfile(name string, read func(file string) ([]byte, error)) (*profile.Profile, error) {
	file, data, err := ProfileText(name, read)
	if err != nil {
		return nil, err
	}
	return profile.Parse(file, data)
}

// ProfileText is the YAML of a profile, and what to call it. The error is plan.Problems of
// the setting profile.
func ProfileText(name string, read func(file string) ([]byte, error)) (file string, data []byte, err error) {
	ending := filepath.Ext(name)
	if !strings.ContainsRune(filepath.ToSlash(name), '/') && ending != ".yaml" && ending != ".yml" {
		if data, err = profile.Text(name); err != nil {
			return "", nil, plan.Problems{{Path: "profile", Why: err.Error(), Hint: "a file is named by its path or its ending .yaml"}}
		}
		return name + ".yaml", data, nil
	}
	if data, err = read(name); err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", nil, plan.Problems{{Path: "profile", Value: name, Why: err.Error()}}
	}
	return name, data, nil
}
