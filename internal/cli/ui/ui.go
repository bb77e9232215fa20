// Package ui is `pitot ui`, the runs of a store in a browser, and the page that other commands show while they make
// runs: a second process of this program.
package ui

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/pitot-bench/pitot/internal/cli/conform"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/web"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/proc"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// Cmd is `pitot ui`.
type Cmd struct {
	Listen string   `default:"127.0.0.1:7070" placeholder:"HOST:PORT" help:"Address to listen on; port 0 selects a free one (${default}). An address that other machines reach needs the token that is printed."`
	Port   *int     `placeholder:"N" help:"Port to listen on, without the address."`
	Host   []string `sep:"none" placeholder:"NAME" help:"Other name by which the page is reached, such as that of a proxy, with its port or for any port; may be repeated."`
	Token  bool     `help:"Ask for a token on a loopback address too, where other users of this machine are not to see the runs."`
	Write  bool     `help:"Let the page write tags and remarks."`
	Open   bool     `help:"Open the page in the browser."`
	Beside bool     `hidden:"" help:"Serve beside the process that reads standard output and holds standard input open."`

	Conform []string `sep:"none" placeholder:"FILE|FOLDER" help:"Results of pitot conform to show: a JSON file, or a folder of them; may be repeated."`

	flags.TLS
	flags.StoreFlag
}

// Run serves until it is interrupted.
func (c Cmd) Run(sess *session.Session) error {
	if c.Beside {
		return c.runSidecar(sess)
	}
	s, err := c.serving(sess)
	if err != nil {
		return c.taken(sess, err)
	}
	defer s.close()
	if !web.Built() {
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("ui.not-built"))
	}
	fmt.Fprintln(sess.Stderr, sess.Word("ui.showing", "file", s.web.File, "url", s.url()))
	if s.fresh {
		fmt.Fprintln(sess.Stderr, sess.Word("ui.new-store"))
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	if c.Open {
		if err := proc.Browse(s.url()); err != nil {
			fmt.Fprintf(sess.Stderr, "pitot: --open: %v\n", err)
		}
	}
	return s.serve(ctx, func(line string) { fmt.Fprintln(sess.Stderr, "pitot: "+line) }, marked(s.web.Handler(), s.web.File))
}

// A serving is a page that is about to be served.
type serving struct {
	listen string // as the command line says
	l      net.Listener
	tls    flags.TLS
	guard  web.Guard
	web    *web.Server
	fresh  bool // there was no store
}

// serving opens the store and the address.
func (c Cmd) serving(sess *session.Session) (_ *serving, err error) {
	if c.Listen, err = atPort(c.Listen, c.Port); err != nil {
		return nil, err
	}
	if err := errors.Join(checkListen(c.Listen), checkHosts(c.Host)); err != nil {
		return nil, err
	}
	if _, err := c.Config(); err != nil {
		return nil, err
	}
	reports, err := conform.Read(c.Conform)
	if err != nil {
		return nil, err
	}
	file, err := sess.StorePath(c.Store)
	if err != nil {
		return nil, err
	}
	s := &serving{listen: c.Listen, tls: c.TLS, fresh: !files.Exists(file)}
	runs, err := c.open(sess)
	if err != nil {
		return nil, err
	}
	s.web = Server(runs, file, c.Store, sess.Version)
	s.web.Write, s.web.Conformity = c.Write, reports
	if sess.Lang != nil {
		s.web.Language = sess.Lang.Name
	}
	if s.l, err = sess.Listen("tcp", c.Listen); err != nil {
		return nil, errors.Join(fmt.Errorf("--listen: %w", err), runs.Close())
	}
	s.guard = c.guard(s.l)
	if c.Open && s.guard.Token != "" {
		s.close()
		return nil, session.Usagef("--open: other users of this machine could read the token; open the address that is printed without --open")
	}
	return s, nil
}

// open opens the store, to write if the page may.
func (c Cmd) open(sess *session.Session) (*store.Store, error) {
	if !c.Write {
		return sess.OpenOrMake(c.Store)
	}
	runs, err := sess.OpenStore(c.Store)
	if err != nil {
		return nil, fmt.Errorf("--write: %w", err)
	}
	return runs, nil
}

func (s *serving) close() {
	_ = s.l.Close()
	s.web.Close()
	_ = s.web.Runs.Close()
}

// serve answers until ctx ends.
func (s *serving) serve(ctx context.Context, say func(string), h http.Handler) error {
	config, err := s.tls.Config()
	if err != nil {
		return err
	}
	return web.Serve(ctx, s.l, s.guard.Protect(h), config, say)
}

// Server answers the questions of the page about a store, which flag names on a command line; read
// only, unless Write is set.
func Server(runs *store.Store, file, flag, version string) *web.Server {
	return &web.Server{
		Runs: runs, File: file, Version: version, StoreFlag: flag, Figures: known.Figures,
		Judged: judged(runs, flag, version), Finder: web.Finder{List: List, Show: Show},
	}
}
