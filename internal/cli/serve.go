package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// serveCmd is `pitot serve`.
type serveCmd struct {
	Addr   string `placeholder:"HOST:PORT" help:"Address to listen on; port 0 selects a free one. Default: 127.0.0.1:8000."`
	Host   string `placeholder:"NAME" help:"Address to listen on, without the port."`
	Port   *int   `placeholder:"N" help:"Port to listen on, without the address."`
	Model  string `placeholder:"NAME" help:"Name of the model served. Default: the profile's, else pitot."`
	APIKey string `name:"api-key-env" placeholder:"NAME" help:"Environment variable with a bearer key that clients must send."`
	Open   bool   `name:"insecure-open" help:"Serve other machines without a key: whoever reaches the address may use every route."`
	flags.TLS

	Role       string        `enum:"prefill,decode," default:"" placeholder:"ROLE" help:"prefill: give only the first token of each answer, as a prefill worker of sglang-router does; decode: its other worker."`
	TruthLimit int           `default:"100000" placeholder:"N" help:"Number of recent requests kept for /pitot/truth (${default}); fewer if they have more than 10 million writes, 240 MB."`
	FreshSeed  bool          `help:"Draw the seed anew at each start, and print it: --start-spread, stalls and delays then differ from start to start."`
	StallLimit time.Duration `default:"5m" placeholder:"TIME" help:"Time for which the fault stall holds a connection (${default})."`

	flags.Profile
	flags.Engine
}

// Help lists the faults and the routes below the flags.
func (serveCmd) Help() string {
	return "Faults: " + strings.Join(apiserver.FaultNames(), ", ") + ".\n\n" +
		"Routes, as of vLLM and SGLang, and /pitot/truth with the instants of every write by request id: " +
		strings.Join(apiserver.Routes(), ", ") + "."
}

// Run serves until it is interrupted.
func (c serveCmd) Run(sess *session.Session, k *kong.Context) error {
	front, settings, err := pitot.Engine(k)
	if err != nil {
		return session.Usage(err)
	}
	cfg, deployment, err := settings.Config(sess.Version, files.ReadSmall)
	if err != nil {
		return session.InWords(front, plan.Below("target.engine", err))
	}
	if slices.Contains(cfg.Adapters, c.Model) {
		return session.Usagef("--model %s: is the name of an adapter of profile %s", c.Model, deployment.Name)
	}
	cfg.Model = cmp.Or(c.Model, cfg.Model)
	cfg.Precise = sess.Alone
	if c.TruthLimit < 1 || c.TruthLimit > plan.MaxRequests {
		return session.Usagef("--truth-limit %d: must be from 1 to %d", c.TruthLimit, plan.MaxRequests)
	}
	if c.StallLimit <= 0 || c.StallLimit > plan.MaxSpan {
		return session.Usagef("--stall-limit %v: must be above 0, and at most %v, such as 5m", c.StallLimit, plan.MaxSpan)
	}
	cfg.TruthLimit, cfg.StallLimit, cfg.Role = c.TruthLimit, c.StallLimit, apiserver.Role(c.Role)
	if c.APIKey != "" {
		if cfg.APIKey = sess.Getenv(c.APIKey); cfg.APIKey == "" {
			return session.Usagef("--api-key-env %s: the variable is not set", c.APIKey)
		}
	}
	certificate, err := c.Config()
	if err != nil {
		return err
	}
	if err := c.freshen(&cfg, sess); err != nil {
		return err
	}
	server, err := apiserver.New(cfg)
	if err != nil {
		return session.Usage(err)
	}
	addr, err := c.address()
	if err != nil {
		return err
	}
	l, err := sess.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	if cfg.Open(l.Addr()) && !c.Open {
		return errors.Join(session.Usagef("--addr %s: can be reached from other machines; ask for a key with --api-key-env, or use --insecure-open", addr), l.Close())
	}
	fmt.Fprintf(sess.Stderr, "serving %s on %s\n", cfg.Model, serverURL(l, certificate != nil))
	if deployment != nil {
		fmt.Fprintf(sess.Stderr, "profile %s: %s\n", deployment.Name, deployment.Title)
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	return server.Serve(ctx, l, certificate)
}

// freshen gives the server a seed of this start, if it is to have one.
func (c serveCmd) freshen(cfg *apiserver.Config, sess *session.Session) error {
	if !c.FreshSeed {
		return nil
	}
	if cfg.Seed != 0 {
		return session.Usagef("--fresh-seed: --seed %d is given too; give one of them", cfg.Seed)
	}
	cfg.Seed = rand.Uint64N(math.MaxInt64)
	fmt.Fprintf(sess.Stderr, "seed %d\n", cfg.Seed)
	return nil
}

// address is --addr, or --host and --port.
func (c serveCmd) address() (string, error) {
	halves := c.Host != "" || c.Port != nil
	switch {
	case halves && c.Addr != "":
		return "", session.Usagef("--addr %s: --host or --port is given too, and both say where to listen; give one of them", c.Addr)
	case !halves:
		return cmp.Or(c.Addr, net.JoinHostPort(pitot.DefaultHost, pitot.DefaultPort)), nil
	}
	host, port := cmp.Or(c.Host, pitot.DefaultHost), pitot.DefaultPort
	if why := pitot.WrongHost(host); why != "" {
		return "", session.Usagef("--host %q: %s", host, why)
	}
	if c.Port != nil {
		if *c.Port < 0 || *c.Port > math.MaxUint16 {
			return "", session.Usagef("--port %d: must be from 0, which selects a free one, to %d", *c.Port, math.MaxUint16)
		}
		port = strconv.Itoa(*c.Port)
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port), nil
}

func serverURL(l net.Listener, secure bool) string {
	if secure {
		return "https://" + l.Addr().String()
	}
	return "http://" + l.Addr().String()
}
