package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/run/collect/source"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// watchCmd is `pitot watch`.
type watchCmd struct {
	URL     string        `arg:"" optional:"" placeholder:"URL" help:"Server to watch, such as http://127.0.0.1:8000, by its /metrics; a URL that ends in metrics is read as it is."`
	Collect []string      `path:"telemetry.sources" sep:"none" placeholder:"SOURCE" help:"What else to watch, as for bench: the URL of an exporter; host, nvidia-smi, npu-smi or amd-smi, on another machine with @HOST behind it (ssh); none. May be repeated. Default: this machine and its devices, if the server is on it."`
	Every   time.Duration `path:"telemetry.every" placeholder:"TIME" help:"Time between two samples. Default: 1s."`
	For     time.Duration `placeholder:"TIME" help:"End after this time. Default: at q or an interrupt."`
	Number  int           `name:"number" short:"n" placeholder:"N" help:"End after this many lines."`
	Format  string        `short:"f" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text, which is a screen on a terminal and lines elsewhere, or json: the newest values in a line per period (${default})."`

	flags.Connection
}

// Run watches until an interrupt or its limit.
func (c watchCmd) Run(sess *session.Session, k *kong.Context) error {
	spec, target, err := c.compile(sess, k)
	if err != nil {
		return err
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	w := c.watching(sess, spec)
	shown, restore, err := c.shown(sess, w)
	if err != nil {
		return err
	}
	defer restore()
	collectors := source.For(spec.Telemetry, target)
	if ctx.Err() != nil {
		return nil
	}
	err = w.watch(ctx, collectors, shown)
	restore()
	return err
}

// compile makes a Spec with the sources of telemetry and a target from the command line.
func (c watchCmd) compile(sess *session.Session, k *kong.Context) (plan.Spec, collect.Target, error) {
	if c.URL == "" && (len(c.Collect) == 0 || slices.Equal(c.Collect, []string{plan.NoTelemetry})) {
		return plan.Spec{}, collect.Target{}, session.Usagef("nothing to watch; name a server, as in pitot watch http://127.0.0.1:8000, or sources with --collect")
	}
	if c.For < 0 {
		return plan.Spec{}, collect.Target{}, session.Usagef("--for %v: must be positive; leave it out to watch until q is typed", c.For)
	}
	if c.Number < 0 {
		return plan.Spec{}, collect.Target{}, session.Usagef("-n %d: must be positive; leave it out to watch until q is typed", c.Number)
	}
	front, err := pitot.Watched(k, c.URL, func(s plan.Spec) plan.Problems {
		return plan.Merge(s.CheckSampled(), source.Check(s.Telemetry))
	})
	if err != nil {
		return plan.Spec{}, collect.Target{}, session.Usage(err)
	}
	spec := front.Spec
	spec.Telemetry.Sources = c.sources(&spec.Target)
	spec.Telemetry.Every = cmp.Or(spec.Telemetry.Every, plan.Duration(time.Second))
	target, err := run.Reach(&spec, run.Deps{
		Env: sess.Env, Read: files.ReadSmall, Given: front.Given, Secrets: sess.Secrets, Dial: sess.Dial, Proxy: sess.Proxy(),
	})
	target.Live = true
	return spec, target, session.InWords(front, err)
}

// sources are the server and the other sources to watch. A URL that names a page itself is a source as it is, and
// its folder the target.
func (c watchCmd) sources(t *plan.Target) (all []string) {
	if t.URL != "" {
		all = append(all, t.URL)
		if u, err := url.Parse(t.URL); err == nil && strings.HasSuffix(u.Path, "metrics") {
			u.Path = strings.TrimSuffix(path.Dir(u.Path), "/")
			t.URL = u.String()
		}
		if len(c.Collect) == 0 && source.Local(t.URL) {
			all = append(all, source.Auto)
		}
	}
	return append(all, slices.DeleteFunc(slices.Clone(c.Collect), func(s string) bool { return s == plan.NoTelemetry })...)
}

func (c watchCmd) watching(sess *session.Session, spec plan.Spec) *watching {
	target := strings.Join(append([]string{"pitot watch"}, spec.Telemetry.Sources...), " ")
	if spec.Telemetry.Sources[len(spec.Telemetry.Sources)-1] == source.Auto {
		target = "pitot watch " + spec.Telemetry.Sources[0]
	}
	return &watching{
		every: spec.Telemetry.Every.Std(), limit: c.For, most: c.Number, target: sess.Secrets.Hide(target),
		secrets: sess.Secrets, begun: time.Now(), lang: sess.Words(),
	}
}

// shown is where it is shown: a screen on a terminal, else lines. restore, which may be called
// again, leaves the terminal as it was.
func (c watchCmd) shown(sess *session.Session, w *watching) (s shower, restore func(), err error) {
	nothing := func() {}
	switch {
	case c.Format == "json":
		return &lines{sess.Stdout, jsonOf(english())}, nothing, nil
	case sess.Terminal == nil || sess.Dumb():
		return &lines{sess.Stdout, lineOf(w.lang)}, nothing, nil
	}
	p := &page{
		Terminal: sess.Terminal, colors: sess.Colors(), ascii: sess.ASCII(), lang: w.lang, hide: sess.Secrets.Hide,
	}
	if err := p.open(); err != nil {
		return nil, nil, fmt.Errorf("take over the terminal: %w", err)
	}
	w.keys = p.keys
	return p, p.close, nil
}
