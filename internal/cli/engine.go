package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/dist"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

// latencyFlags are the flags of engineSettings that state latencies, and so
// leave no room for a profile.
var latencyFlags = []string{"ttft", "itl", "per-prompt-token", "per-image", "slots"}

// latencies are those of latencyFlags that were given.
func (s engineSettings) latencies() []string {
	var given []string
	for i, set := range []bool{s.TTFT != nil, s.ITL != nil, s.PerPromptToken != nil, s.PerImage != nil, s.Slots != nil} {
		if set {
			given = append(given, latencyFlags[i])
		}
	}
	return given
}

// config is the server that the settings describe: with the latencies they
// state, or else with the profile of that name, which comes along. Their flags
// begin with prefix.
func (s engineSettings) config(prefix, name string) (apiserver.Config, *profile.Profile, error) {
	cfg := apiserver.Config{
		Model: profile.DefaultModel, Version: "pitot-engine " + Version(), MaxModelLen: int(or(s.MaxModelLen, 0)),
		Seed: s.Seed, OutputLen: or(s.OutputLen, dist.Count{}), Faults: s.Fault,
	}
	given := s.latencies()
	if len(given) == 0 {
		p, err := s.deployment(prefix, cmp.Or(name, profile.Default))
		if err == nil {
			s.stand(&cfg, p)
		}
		return cfg, p, err
	}
	if name != "" {
		return cfg, nil, usagef("--profile %s and %s%s: a profile has timing of its own; give one or the other", name, prefix, strings.Join(given, ", "+prefix))
	}
	cfg.Latency = engine.Latency{
		TTFT: or(s.TTFT, dist.Constant(50*time.Millisecond)), ITL: or(s.ITL, dist.Constant(10*time.Millisecond)),
		PerPromptToken: or(s.PerPromptToken, dist.Duration{}), PerImage: or(s.PerImage, dist.Duration{}), Slots: int(or(s.Slots, 0)),
	}
	return cfg, nil, nil
}

// deployment is a profile with what the settings change of it.
func (s engineSettings) deployment(prefix, name string) (*profile.Profile, error) {
	p, err := readProfile("--profile: ", name)
	if err != nil {
		return nil, err
	}
	if s.MaxModelLen == nil {
		return p, nil
	}
	p.Engine.MaxModelLen = int(*s.MaxModelLen)
	if err := p.Engine.Validate().Err(); err != nil {
		return nil, usagef("%smax-model-len %d: profile %s: %w", prefix, *s.MaxModelLen, p.Name, err)
	}
	return p, nil
}

// stand lets the server stand for the deployment of a profile, where the
// settings do not say otherwise.
func (s engineSettings) stand(cfg *apiserver.Config, p *profile.Profile) {
	if s.OutputLen == nil {
		cfg.OutputLen = p.Model.OutputLen
	}
	cfg.Model, cfg.Adapters = cmp.Or(p.Model.Name, cfg.Model), p.Model.Adapters
	cfg.Version += ", profile " + p.Name
	cfg.Engine = &p.Engine
}

// or is what p points at, or else value.
func or[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}

// readProfile reads a profile of the program, or a file if the name is that of
// one. What is wrong with the name is said behind flag, what is wrong in the file
// behind the place.
func readProfile(flag, name string) (*profile.Profile, error) {
	file, data, err := profileText(flag, name)
	if err != nil {
		return nil, err
	}
	p, err := profile.Parse(file, data)
	return p, usage(err)
}

// profileText is the YAML of a profile, and what to call it.
func profileText(flag, name string) (file string, data []byte, err error) {
	if !isFile(name) {
		data, err = profile.Text(name)
		if err != nil {
			return "", nil, usagef("%s%w, and a file is named by its path or its ending .yaml", flag, err)
		}
		return name + ".yaml", data, nil
	}
	if data, err = os.ReadFile(name); err != nil {
		return "", nil, usagef("%s%w", flag, err)
	}
	return name, data, nil
}

// isFile tells the name of a file from that of a profile.
func isFile(name string) bool {
	ending := filepath.Ext(name)
	return strings.ContainsRune(filepath.ToSlash(name), '/') || ending == ".yaml" || ending == ".yml"
}
