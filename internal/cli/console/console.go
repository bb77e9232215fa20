// Package console is what a command has of the process that it runs in: its streams, its
// environment and signals, and the store of runs. An error of a command says by its kind with
// which code the process exits; package cli makes the code of it.
//
// A group of commands is a package beside this one. Its commands are structs of flags with
// Run(*Console) error, and package cli places them on the command line.
package console

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A Console is a process as a command sees it.
type Console struct {
	Stdout, Stderr io.Writer // which let no secret and nothing unprintable through
	Env            func(name string) (value string, ok bool)
	Signals        <-chan os.Signal // interrupts and requests to end
	Listen         func(network, address string) (net.Listener, error)
	Dial           func(ctx context.Context, network, address string) (net.Conn, error) // nil: net's
	Proxy          func(*url.URL) (*url.URL, error)                                     // nil: none
	Screen         func() int                                                           // columns of the terminal that Stdout is, nil if it is none
	Terminal       Terminal                                                             // the same to draw on; nil if it is none
	Secrets        *secret.Set                                                          // that are known
	// Alone means that nothing else goes on in the operating system's process.
	Alone   bool
	Version string // of the program
}

// A Terminal is drawn on by who moves its cursor himself. What is written goes past what makes
// Stdout harmless.
type Terminal interface {
	io.Writer
	Size() (columns, rows int)
	// Keys begins to read what is typed, key by key, without showing it; restore leaves the
	// terminal as it was. Interrupts are keys too. Where nobody types, there are no keys.
	Keys() (keys <-chan byte, restore func(), err error)
}

// English is the language of what has no flag for another one.
var English = words.In(words.Default)

// Getenv is the value of a variable, empty when it is not set.
func (c *Console) Getenv(name string) string {
	v, ok := c.Env(name)
	if !ok {
		return ""
	}
	return v
}

// Masked are the words of a command line without the secrets that are known and the users of URLs.
func (c *Console) Masked(args []string) []string {
	out := make([]string, len(args))
	for i, word := range args {
		out[i] = c.Secrets.Hide(secret.WithoutUser(word))
	}
	return out
}

// Colors reports whether Stdout is a terminal that shows colours.
func (c *Console) Colors() bool {
	return c.Screen != nil && c.Getenv("NO_COLOR") == "" && !c.Dumb()
}

// Dumb reports a terminal on which no cursor can be moved.
func (c *Console) Dumb() bool { return c.Getenv("TERM") == "dumb" }

// ASCII reports a locale that has no bars and blocks: by the first variable that names one, it is
// not of UTF-8.
func (c *Console) ASCII() bool {
	locale := cmp.Or(c.Getenv("LC_ALL"), c.Getenv("LC_CTYPE"), c.Getenv("LANG"))
	return !strings.Contains(strings.ReplaceAll(strings.ToLower(locale), "-", ""), "utf8")
}

// ReadSettings reads a file of settings, and makes the secrets in it known.
func (c *Console) ReadSettings(name string) ([]byte, error) {
	data, err := files.ReadSmall(name)
	c.Secrets.Add(secret.FindLines(string(data))...)
	return data, err
}

// UntilInterrupt is a context that an interrupt ends, with ErrInterrupted as its cause.
func (c *Console) UntilInterrupt(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if ctx.Err() != nil { // the interrupt is for whoever listens next
			return
		}
		select {
		case <-c.Signals:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// LogKeeper has the arguments by which Pitot keeps the log of a server short, once the process that
// started the server was killed.
func LogKeeper() []string { return []string{"pitot", "keep-log"} }
