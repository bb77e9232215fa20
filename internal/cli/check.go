package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/endpoint"
	"github.com/pitot-bench/pitot/internal/workload"
)

// checkGiven reports flags that were given in vain: those on the command line
// that have no effect (a file may serve several), and zeros that would pass for a
// flag left out.
func (c *benchCmd) checkGiven(k *kong.Context, args []string) error {
	var errs []error
	for _, element := range k.Path {
		f := element.Flag
		if f == nil {
			continue
		}
		typed := slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return name == "--"+f.Name
		})
		if why := c.idle(f.Name); why != "" && typed {
			errs = append(errs, usagef("--%s %s", f.Name, why))
		}
		switch f.Name {
		case "url":
			if c.URL == "" {
				errs = append(errs, usagef("--url is empty; leave it out to measure the embedded engine"))
			}
		case "rate", "requests", "concurrency", "output-len":
			if reflect.Indirect(f.Target).IsZero() {
				errs = append(errs, usagef("--%s 0: must be positive; leave it out for the default", f.Name))
			}
		}
	}
	return errors.Join(errs...)
}

const embeddedOnly = "belongs to the embedded engine, and --url names another target"

// idle says why a flag has no effect, if it has none.
func (c *benchCmd) idle(flag string) string {
	random := c.drawn()
	for _, i := range []struct {
		cond   bool
		prefix string
		why    string
	}{
		{c.URL != "", "engine-", embeddedOnly},
		{c.URL != "" && flag == "profile", "profile", embeddedOnly},
		{c.Workload != "random-mm", "image", "belongs to --workload random-mm"},
		{!random, "input-", "belongs to random workloads"},
		{!random, "prefix-len", "belongs to random workloads"},
		{!random, "output-range", "belongs to random workloads"},
		{c.Workload != "custom", "shuffle", "belongs to --workload custom"},
		{c.NoStream, "token-usage", "is about streams, and --no-stream asks for none"},
		{random, "no-oversample", "belongs to workloads from files"},
	} {
		if i.cond && strings.HasPrefix(flag, i.prefix) {
			return i.why
		}
	}
	return ""
}

// complete fills in the defaults that depend on other settings, and reports
// everything wrong with them at once.
func (c *benchCmd) complete() error {
	random := c.drawn()
	if c.Requests == 0 && c.Workload != "custom" {
		c.Requests = 100
	}
	c.idPrefix = newIDPrefix()
	if c.OutputLen == 0 && random {
		c.OutputLen = 64
	}
	if c.IgnoreEOS == nil {
		c.IgnoreEOS = &random
	}
	if c.Protocol == "" {
		c.Protocol = string(endpoint.Completions)
		if c.Workload == "random-mm" {
			c.Protocol = string(endpoint.Chat)
		}
	}
	err := errors.Join(c.checkTarget(), c.checkEngine(), c.checkRequests(), c.check(c.Data != ""), c.checkOrder())
	if err == nil {
		err = c.checkFiles()
	}
	return err
}

// checkFiles reads the files before anything is sent.
func (c *benchCmd) checkFiles() error {
	var errs []error
	if c.Replay != "" && c.Replay != "data" {
		_, err := readTimes(c.Replay)
		errs = append(errs, named("--replay", c.Replay, err))
	}
	switch c.Workload {
	case "sharegpt":
		errs = append(errs, withFile("--data", c.Data, c.shareGPT().Check))
	case "custom":
		errs = append(errs, withFile("--data", c.Data, c.custom().Check))
	}
	return errors.Join(errs...)
}

// A fileWorkload is read from a file.
type fileWorkload interface {
	Build(ctx context.Context, file io.Reader, tok workload.Tokenizer) (workload.Workload, error)
}

// buildFrom builds a workload from the file that a flag names.
func buildFrom(ctx context.Context, flag, name string, source fileWorkload, tok tokens) (w workload.Workload, err error) {
	err = withFile(flag, name, func(file io.Reader) (err error) {
		w, err = source.Build(ctx, file, tok.tok)
		return err
	})
	return w, err
}

// withFile lets read have the file that a flag names.
func withFile(flag, name string, read func(io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return usagef("%s: %w", flag, err)
	}
	defer file.Close()
	return named(flag, name, read(file))
}

// named puts a flag and its file before an error, if there is one. Errors of the
// file system name the file themselves, and those of the server are not its.
func named(flag, name string, err error) error {
	var path *fs.PathError
	var server interface{ MayPass() bool }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &server):
		return err
	case errors.As(err, &path):
		return usagef("%s: %w", flag, err)
	}
	return usagef("%s %s: %w", flag, name, err)
}

func (c *benchCmd) checkTarget() error {
	var errs []error
	if c.URL != "" {
		base, err := parseBase("--url", c.URL)
		c.URL, errs = base, append(errs, err)
	}
	if c.Endpoint != "" && !strings.HasPrefix(c.Endpoint, "/") {
		errs = append(errs, usagef("--endpoint %q: must begin with /", c.Endpoint))
	}
	if c.Timeout < 0 || c.IdleTimeout < 0 {
		errs = append(errs, usagef("--timeout and --idle-timeout must not be negative"))
	}
	if c.HTTP2 && c.Client == "h1" {
		errs = append(errs, usagef("--client h1 speaks HTTP/1.1 alone: leave out --http2, or take --client nethttp"))
	}
	if c.Procs < 0 {
		errs = append(errs, usagef("--procs %d: must not be negative", c.Procs))
	}
	_, err := c.extraBody()
	return errors.Join(append(errs, err)...)
}

// checkEngine settles what the embedded engine is, if there is to be one.
func (c *benchCmd) checkEngine() (err error) {
	if c.URL == "" {
		c.server, c.deployment, err = c.Engine.config(cmp.Or(c.enginePrefix, "--engine-"), string(c.Profile))
	}
	return err
}

// drawn tells workloads that are drawn from those that are read.
func (c *benchCmd) drawn() bool { return c.Workload == "random" || c.Workload == "random-mm" }

func (c *benchCmd) checkRequests() error {
	random := c.drawn()
	var errs []error
	bad := func(cond bool, format string, a ...any) {
		if cond {
			errs = append(errs, usagef(format, a...))
		}
	}
	bad(!random && c.Requests < 0, "--requests %d: must not be negative", c.Requests)
	bad(random && c.Data != "", "--data: a %s workload reads no file; for a file use --workload sharegpt or custom", c.Workload)
	bad(!random && c.Data == "", "--workload %s needs --data FILE", c.Workload)
	bad(c.VocabSize < 2, "--vocab-size %d: must be at least 2", c.VocabSize)
	bad(c.Workload == "random-mm" && c.Protocol != string(endpoint.Chat), "--workload random-mm sends pictures and needs --protocol chat")
	bad(!random && c.OutputLen < 0, "--output-len %d: must not be negative", c.OutputLen)
	switch c.Workload {
	case "random":
		errs = append(errs, usage(c.random().Validate()))
	case "random-mm":
		r, err := c.randomMM()
		if err == nil {
			err = r.Validate()
		}
		errs = append(errs, usage(err))
	}
	return errors.Join(errs...)
}

func (c *benchCmd) checkOrder() error {
	var errs []error
	if c.Warmup < 0 {
		errs = append(errs, usagef("--warmup %d: must not be negative", c.Warmup))
	}
	if c.ReadyTimeout != nil && *c.ReadyTimeout < 0 {
		errs = append(errs, usagef("--ready-timeout %v: must not be negative", *c.ReadyTimeout))
	}
	if c.Name == "last" {
		errs = append(errs, usagef("--name last: that is what the newest run is called"))
	}
	slos, err := parseSLOs(c.SLO)
	for _, o := range slos {
		if c.NoStream && o.Metric != "e2el" {
			errs = append(errs, usagef("--slo %s: without a stream there is only e2el", o.Metric))
		}
	}
	return errors.Join(append(errs, err, checkPercentiles(c.Percentiles), checkReports(c.Report))...)
}

// checkReports names both flags that may have been written.
func checkReports(names []string) error {
	for _, name := range names {
		if !slices.Contains([]string{"pitot", "vllm", "sglang", "json"}, name) {
			return usagef("--report (or --dialect) %q: must be pitot, vllm, sglang, json, or several of them: pitot,vllm", name)
		}
	}
	return nil
}

func checkPercentiles(percentiles []float64) error {
	var errs []error
	for i, p := range percentiles {
		if !(p > 0 && p < 100) {
			errs = append(errs, usagef("--percentiles %v: must be between 0 and 100", p))
		}
		if slices.Contains(percentiles[:i], p) {
			errs = append(errs, usagef("--percentiles %v is given twice", p))
		}
	}
	return errors.Join(errs...)
}
