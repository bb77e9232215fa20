package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// How long the page stays after the command that it is served for.
const (
	lookedAt = 10 * time.Second // without a request it is not looked at any more
	longest  = 10 * time.Minute
)

// ServePage shows a store in a second process while a command makes runs, prints its address, and returns a
// function that ends it. A page that cannot be shown is reported, and does not prevent the measurement. None of the
// page is in this process.
func ServePage(sess *session.Session, asked bool, file string) (release func()) {
	if !asked {
		return func() {}
	}
	page, url, err := start(sess, file)
	if err != nil {
		fmt.Fprintf(sess.Stderr, "pitot: --ui: %v\n", err)
		return func() {}
	}
	fmt.Fprintln(sess.Stderr, sess.Word("ui.page-at", "url", url))
	return page.Release
}

// start starts the second process, or finds one that shows the store already.
func start(sess *session.Session, file string) (page *proc.Sidecar, url string, err error) {
	path, err := sess.StorePath(file)
	if err != nil {
		return nil, "", err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	const ready = 20 * time.Second
	args := []string{program, "ui", "--beside", "--store", path}
	if sess.Lang != nil {
		args = append(args, "--lang", sess.Lang.Name)
	}
	page, line, err := proc.StartSidecar(args, []string{"GOMAXPROCS=1"}, ready)
	if err != nil {
		return nil, "", err
	}
	url, ok := strings.CutPrefix(line, readyMark)
	if !ok {
		page.Release()
		return nil, "", errors.New(line)
	}
	return page, url, nil
}

// readyMark is before the address that the second process prints; else it prints an error.
const readyMark = "page "

// runSidecar is the second process. It prints one line; nothing reads what follows.
func (c Cmd) runSidecar(sess *session.Session) error {
	s, err := c.serving(sess)
	if errors.Is(err, syscall.EADDRINUSE) {
		if url, same := c.shown(sess); same {
			_, err := fmt.Fprintln(sess.Stdout, readyMark+url)
			return err
		}
		c.Listen = anyPort(c.Listen)
		s, err = c.serving(sess)
	}
	if err != nil {
		fmt.Fprintln(sess.Stdout, strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	defer s.close()
	if _, err := fmt.Fprintln(sess.Stdout, readyMark+s.url()); err != nil {
		return err
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	ctx, end := context.WithCancel(ctx)
	defer end()
	seen := &audience{}
	left := make(chan struct{})
	go func() { // ends with the process: nothing wakes a read of standard input
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(left)
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		seen.outlast(ctx, left)
		end()
	}()
	err = s.serve(ctx, func(string) {}, seen.of(marked(s.web.Handler(), s.web.File)))
	end()
	<-over
	return err
}

// An audience is who looks at the page.
type audience struct {
	asking atomic.Int64 // requests under way
	last   atomic.Int64 // when one ended, Unix nanoseconds
}

func (a *audience) of(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.asking.Add(1)
		defer func() {
			a.last.Store(time.Now().UnixNano())
			a.asking.Add(-1)
		}()
		h.ServeHTTP(w, r)
	})
}

// outlast waits until the command has left and the page is looked at no more: an open page holds a
// stream of events.
func (a *audience) outlast(ctx context.Context, left <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-left:
	}
	end := time.NewTimer(longest)
	defer end.Stop()
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for a.asking.Load() > 0 || time.Since(time.Unix(0, a.last.Load())) < lookedAt {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-look.C:
		}
	}
}
