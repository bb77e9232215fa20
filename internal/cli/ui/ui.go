// Package ui is `pitot ui`: the runs of a store in a browser.
package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/conform"
	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/searches"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/web"
)

// Cmd is `pitot ui`.
type Cmd struct {
	Listen string `default:"127.0.0.1:7070" placeholder:"HOST:PORT" help:"Address to listen on; port 0 selects a free one (${default})."`
	Write  bool   `help:"Let the page write tags and remarks."`

	Conform []string `placeholder:"FILE|FOLDER" help:"Results of pitot conform to show: a JSON file, or a folder of them. May be repeated."`
	flags.Kept
}

// Run serves until it is interrupted.
func (c Cmd) Run(con *console.Console) error {
	file, err := con.StorePath(c.Store)
	if err != nil {
		return err
	}
	reports, err := conform.Read(c.Conform)
	if err != nil {
		return err
	}
	return con.With(c.Store, func(runs *store.Store) error {
		l, err := con.Listen("tcp", c.Listen)
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		if !web.Built() {
			fmt.Fprintln(con.Stderr, "pitot: this binary was built without the page; run make build with Node installed")
		}
		fmt.Fprintf(con.Stderr, "showing %s at http://%s/\n", file, l.Addr())
		s := &web.Server{
			Runs: runs, File: file, Version: con.Version, Write: c.Write,
			Finder: web.Finder{List: searches.List, Show: searches.Show}, Conformity: reports,
		}
		server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
		ctx, release := con.UntilInterrupt(context.Background())
		defer release()
		context.AfterFunc(ctx, func() { _ = server.Close() })
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
}
