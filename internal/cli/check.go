package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
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
	random, talks := c.Workload == "random" || c.Workload == "random-mm", c.talking()
	drawn := c.drawn()
	for _, i := range []struct {
		cond   bool
		prefix string
		why    string
	}{
		{c.URL != "", "engine-", embeddedOnly},
		{c.URL != "" && flag == "profile", "profile", embeddedOnly},
		{c.manyParts() && ofParts(flag), "", "belongs to the parts of --mix or --tenant"},
		{len(c.Tenants) > 0 && ofLoad(flag), "", "belongs to each --tenant"},
		{c.Workload != "random-mm", "image", "belongs to --workload random-mm"},
		{!drawn, "input-len", "belongs to workloads that are drawn"},
		{!random, "input-range", "belongs to random workloads"},
		{!drawn, "prefix-len", "belongs to workloads that are drawn"},
		{!random, "output-range", "belongs to random workloads"},
		{!drawn, "lengths", "belongs to workloads that are drawn"},
		{!drawn && c.Workload != "trace", "fit", "belongs to workloads that are drawn, and to traces"},
		{c.Workload == "trace", "output-len", "belongs to other workloads: a trace says how long answers are"},
		{c.Workload != "custom", "shuffle", "belongs to --workload custom"},
		{!c.protocol().Silent() || c.Workload != "random", "texts", "belongs to --workload random with --protocol embeddings, pooling or rerank"},
		{c.protocol().Silent(), "output-", "is about text, and --protocol " + c.Protocol + " has none in its answers"},
		{c.NoStream, "token-usage", "is about streams, and --no-stream asks for none"},
		{drawn, "no-oversample", "belongs to workloads from files"},
		{c.Workload != "trace", "trace-", "belongs to --workload trace"},
		{c.Workload != "trace", "log-type", "belongs to --workload trace"},
		{c.Workload != "trace", "slice", "belongs to --workload trace"},
		{c.Workload != "trace", "sample", "belongs to --workload trace"},
		{c.Workload != "trace", "block-len", "belongs to --workload trace"},
		{!talks, "conversations", "belongs to workloads of conversations"},
		{!talks, "think", "belongs to workloads of conversations"},
		{!talks && !c.manyParts(), "hold", "belongs to workloads of conversations"},
		{!talks || c.Workload == "conversations", "turn", "belongs to --workload chat and agent"},
		{c.Workload != "conversations", "history", "belongs to --workload conversations"},
	} {
		if i.cond && strings.HasPrefix(flag, i.prefix) {
			return i.why
		}
	}
	return ""
}

// ofParts tells the settings of a workload, but for the number of requests, which is
// that of all parts together.
func ofParts(flag string) bool { return flag != "requests" && hasField(workloadSettings{}, flag) }

// ofLoad tells the settings that each tenant has of its own.
func ofLoad(flag string) bool {
	return slices.Contains([]string{"rate", "ramp", "replay", "speed", "arrival", "burstiness"}, flag)
}

// hasField tells whether settings have a flag of this name.
func hasField(settings any, flag string) bool {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(settings)) {
		if !f.Anonymous && strings.EqualFold(f.Name, strings.ReplaceAll(flag, "-", "")) {
			return true
		}
	}
	return false
}

// complete fills in the defaults that depend on other settings, and reports
// everything wrong with them at once.
func (c *benchCmd) complete() error {
	c.idPrefix = newIDPrefix()
	c.completeWorkload()
	if c.IgnoreEOS == nil {
		full := c.ignoresEOS()
		c.IgnoreEOS = &full
	}
	if c.Protocol == "" {
		c.Protocol = string(endpoint.Completions)
		if c.chats() {
			c.Protocol = string(endpoint.Chat)
		}
	}
	c.NoStream = c.NoStream || c.protocol().Silent()
	err := errors.Join(c.checkTarget(), c.checkEngine(), c.checkRequests(), c.check(c.Data != ""), c.checkOrder())
	if err == nil {
		err = c.checkFiles()
	}
	return err
}

// completeWorkload fills in the defaults of a workload.
func (c *benchCmd) completeWorkload() {
	whole := slices.Contains([]string{"custom", "trace", "conversations"}, c.Workload) || c.Conversations > 0
	if c.Requests == 0 && (!whole || c.manyParts()) {
		c.Requests = 100
	}
	if !c.OutputLen.given() && c.drawn() {
		c.OutputLen = length{fixed: 64}
	}
	if c.Workload == "trace" && c.Data != "" && c.kind() == "default" {
		c.Replay = "data" // it has times of its own
	}
}

// ignoresEOS tells whether answers are to have their full length unless something else is
// asked for: where nobody wrote the prompts, and so nobody would answer them.
func (c *benchCmd) ignoresEOS() bool {
	if !c.manyParts() {
		return c.drawn() || c.Workload == "trace"
	}
	return !slices.ContainsFunc(c.parts(), func(p part) bool {
		return slices.Contains([]string{"sharegpt", "custom", "conversations"}, p.Workload)
	})
}

// chats tells whether a workload is one for the chat protocol.
func (c *benchCmd) chats() bool {
	chat := func(w string) bool {
		return slices.Contains([]string{"random-mm", "chat", "agent", "conversations"}, w)
	}
	return !c.manyParts() && chat(c.Workload) || slices.ContainsFunc(c.parts(), func(p part) bool { return chat(p.Workload) })
}

// checkFiles reads the files before anything is sent.
func (c *benchCmd) checkFiles() error {
	var errs []error
	if c.Replay != "" && c.Replay != "data" {
		_, err := readTimes(c.Replay)
		errs = append(errs, named("--replay", c.Replay, err))
	}
	if !c.manyParts() {
		errs = append(errs, c.read())
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

// withFile lets read have the file that a flag names, unpacked.
func withFile(flag, name string, read func(io.Reader) error) error {
	file, err := openFile(name)
	if err != nil {
		return usagef("%s: %w", flag, err)
	}
	defer file.Close()
	text, err := rows.Unpack(name, file)
	if err == nil {
		err = read(text)
	}
	return named(flag, name, err)
}

// openFile opens a file to read, which a folder is not.
func openFile(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(fmt.Errorf("%s is a folder, not a file", name), file.Close())
	}
	return file, nil
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
func (c *benchCmd) drawn() bool {
	return slices.Contains([]string{"random", "random-mm", "chat", "agent"}, c.Workload)
}

// talking tells workloads of conversations.
func (c *benchCmd) talking() bool {
	return slices.Contains([]string{"chat", "agent", "conversations"}, c.Workload)
}

func (c *benchCmd) checkRequests() error {
	var errs []error
	if c.VocabSize < 2 {
		errs = append(errs, usagef("--vocab-size %d: must be at least 2", c.VocabSize))
	}
	if c.Requests < 0 {
		errs = append(errs, usagef("--requests %d: must not be negative", c.Requests))
	}
	if c.manyParts() {
		return errors.Join(append(errs, c.checkParts())...)
	}
	return errors.Join(append(errs, c.checkWorkload())...)
}

// checkWorkload reports what is wrong with the settings of one workload.
func (c *benchCmd) checkWorkload() error {
	drawn := c.drawn()
	var errs []error
	bad := func(cond bool, format string, a ...any) {
		if cond {
			errs = append(errs, usagef(format, a...))
		}
	}
	bad(drawn && c.Data != "", "--data: a %s workload reads no file; for a file use --workload sharegpt, custom, trace or conversations", c.Workload)
	bad(!drawn && c.Data == "", "--workload %s needs --data FILE", c.Workload)
	bad(!drawn && c.OutputLen.fixed < 0, "--output-len %v: must not be negative", c.OutputLen)
	bad(c.OutputLen.count != nil && (c.Workload == "sharegpt" || c.Workload == "custom"), "--output-len %v: of a %s workload it must be a number", c.OutputLen, c.Workload)
	bad(c.InputLen.count != nil && c.InputRange != 0, "--input-range belongs to an input length that is a number")
	bad(c.OutputLen.count != nil && c.OutputRange != 0, "--output-range belongs to an output length that is a number")
	bad(c.Lengths != "" && (c.InputRange != 0 || c.OutputRange != 0), "--lengths has lengths that differ already: leave out --input-range and --output-range")
	bad(c.Fit != 0 && (c.InputRange != 0 || c.OutputRange != 0), "--fit goes with distributions: write --input-len 'uniform(LOW,HIGH)' in place of --input-range")
	bad(c.Fit < 0 || c.Fit == 1 || c.Fit > 0 && drawn && c.Fit <= c.PrefixLen+1, "--fit %d: must have room for a prompt and an answer", c.Fit)
	bad(c.Sample < 0 || c.Sample > 1, "--sample %v: must be a share from 0 to 1", c.Sample)
	bad(c.BlockLen < 1, "--block-len %d: must be at least 1", c.BlockLen)
	bad(c.Conversations < 0, "--conversations %d: must not be negative", c.Conversations)
	if c.Slice != "" {
		_, err := traffic.ParseSpan(c.Slice)
		bad(err != nil, "--slice %v", err)
	}
	return errors.Join(append(append(errs, c.checkProtocol()...), c.checkLengths())...)
}

// checkLengths reports lengths that cannot be drawn.
func (c *benchCmd) checkLengths() error {
	switch c.Workload {
	case "random":
		return usage(c.lengthened(c.random()).Validate())
	case "random-mm":
		r, err := c.randomMM()
		if err == nil {
			r.Random = c.lengthened(r.Random)
			err = r.Validate()
		}
		return usage(err)
	case "chat", "agent":
		var errs []error
		if c.InputLen.count == nil && c.InputLen.fixed < 1 {
			errs = append(errs, usagef("--input-len %v: must be at least 1", c.InputLen))
		}
		if c.OutputLen.count == nil && c.OutputLen.fixed < 1 {
			errs = append(errs, usagef("--output-len %v: must be at least 1", c.OutputLen))
		}
		if c.PrefixLen < 0 {
			errs = append(errs, usagef("--prefix-len %d: must not be negative", c.PrefixLen))
		}
		return errors.Join(errs...)
	}
	return nil
}

// lengthened is r with lengths that can be, in place of those that are drawn later.
func (c *benchCmd) lengthened(r workload.Random) workload.Random {
	if c.InputLen.count != nil || c.Lengths != "" {
		r.Input = 1
	}
	if c.OutputLen.count != nil || c.Lengths != "" && r.Output == 0 {
		r.Output = 1
	}
	return r
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
	return errors.Join(append(errs, err, checkPercentiles(c.Percentiles), checkReports(c.Report), c.checkForm())...)
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

// checkForm holds --dialect-version to the reports that are asked for.
func (c outputSettings) checkForm() error {
	var asked []string
	for _, name := range c.Report {
		if name == "vllm" || name == "sglang" {
			asked = append(asked, name)
		}
	}
	switch {
	case c.Form == "":
		return nil
	case len(asked) != 1:
		return usagef("--dialect-version %s: goes with --report vllm or --report sglang, one of them", c.Form)
	}
	return runsReportCmd{Dialect: asked[0], DialectVersion: c.Form}.checkDialect()
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
