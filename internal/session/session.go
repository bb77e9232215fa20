// Package session is the process as commands see it: streams, environment, signals and secrets, the store of runs,
// the runs that arguments name, a fleet, and Make, the one place where a run is made.
//
//	words ─ cli ─> Spec ─ Make ─> run.Prepare ─ run.Execute ─> store, view, other sinks
//
// Tests run complete command lines on a Session that they make.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// A Session is a process as a command sees it.
type Session struct {
	Args           []string // without the program's name
	Env            func(name string) (value string, ok bool)
	Stdin          io.Reader        // a terminal, nil if it is none
	Stdout, Stderr io.Writer        // Guarded lets no secret and nothing unprintable through
	RawStdout      io.Writer        // past the guard: for files of machines
	RawStderr      io.Writer        // past the guard: for the progress of a run
	Columns        func() int       // of the terminal that Stdout is, nil if it is none
	Screen         live.Screen      // the terminal that Stderr is, nil if it is none
	Terminal       Terminal         // the terminal that Stdout is, to draw on; nil if it is none
	Signals        <-chan os.Signal // interrupts and requests to end
	// Alone means that nothing else goes on in the operating system's process, so that a run may have the runtime
	// to itself.
	Alone bool
	// Listen and Dial are net's, unless a test has its own network.
	Listen  func(network, address string) (net.Listener, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Secrets *secret.Set     // known ones
	Version string          // of the program
	Lang    *words.Language // of output; nil: English, and nobody asked for it
	// Compile makes a load of a command line.
	Compile func(*Session, []string) (experiment.VariantLoad, error)
	// Parse makes a draft of a command line of bench or sim.
	Parse func(*Session, []string) (*pitot.Draft, error)

	fleet *Link // sends the requests of runs; nil: this process does
}

// A Terminal is written to by a view that moves its cursor. It is past the guard of Stdout.
type Terminal interface {
	io.Writer
	Size() (columns, rows int)
	// Keys begins to read the keyboard, key by key, without echo; restore leaves the terminal as it was. Interrupts
	// are keys too. Where nobody types, there are no keys.
	Keys() (keys <-chan byte, restore func(), err error)
}

// Getenv is the value of a variable, empty when it is not set.
func (s *Session) Getenv(name string) string {
	v, ok := s.Env(name)
	if !ok {
		return ""
	}
	return v
}

// Masked are the words of a command line without the secrets that are known and the users of URLs.
func (s *Session) Masked(args []string) []string {
	out := make([]string, len(args))
	for i, word := range args {
		out[i] = s.Secrets.Hide(secret.WithoutUser(word))
	}
	return out
}

// Colors reports whether Stdout is a terminal that shows colours.
func (s *Session) Colors() bool {
	return s.Columns != nil && s.Getenv("NO_COLOR") == "" && !s.Dumb()
}

// Dumb reports a terminal on which no cursor can be moved.
func (s *Session) Dumb() bool { return s.Getenv("TERM") == "dumb" }

// ASCII reports a locale that has no bars and blocks: by the first variable that names one, it is
// not of UTF-8.
func (s *Session) ASCII() bool {
	locale := cmp.Or(s.Getenv("LC_ALL"), s.Getenv("LC_CTYPE"), s.Getenv("LANG"))
	return !strings.Contains(strings.ReplaceAll(strings.ToLower(locale), "-", ""), "utf8")
}

// ReadSettings reads a file of settings, and makes the secrets in it known.
func (s *Session) ReadSettings(name string) ([]byte, error) {
	data, err := files.ReadSmall(name)
	s.Secrets.Add(secret.FindLines(string(data))...)
	return data, err
}

// UntilInterrupt is a context that an interrupt ends, with ErrInterrupted as its cause.
func (s *Session) UntilInterrupt(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if ctx.Err() != nil { // the interrupt is for whoever listens next
			return
		}
		select {
		case <-s.Signals:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// TrimLogCommand is the command line that keeps the log of a server short after the process that started
// the server was killed.
func TrimLogCommand() []string { return []string{"pitot", "keep-log"} }

// Guarded is the session with its output behind a plain.Writer. Only the progress of a run goes past it and, unless
// to a terminal, output for machines that is no JSON.
func (s *Session) Guarded() *Session {
	q := *s
	q.Secrets = s.known()
	stdout := &plain.Writer{To: s.Stdout, Hide: q.Secrets.Hide, Colors: s.Colors()}
	q.Stdout, q.RawStdout, q.Stderr, q.RawStderr = stdout, s.Stdout, &plain.Writer{To: s.Stderr, Hide: q.Secrets.Hide}, s.Stderr
	if s.Columns != nil {
		q.RawStdout = stdout
	}
	return &q
}

// Offline is the session without a network.
func (s *Session) Offline() *Session {
	home := *s
	home.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("a plan asks nobody") }
	return &home
}

// SayTaken says that objectives of each request, as they were given, are taken as those of 99 % of them.
func (s *Session) SayTaken(objectives []string) {
	for _, o := range objectives {
		name, limit, _ := strings.Cut(o, "=")
		fmt.Fprintln(s.Stderr, s.Word("report.note", "note", plan.Msg("stage.slo-taken", "given", o, "taken", name+".p99="+limit)))
	}
}

// A Language is the value of --lang: the name of a catalogue, or a locale that begins with one.
type Language string

// Validate refuses a language without a catalogue.
func (l Language) Validate() error {
	if l == "" || inLocale(string(l)) != nil {
		return nil
	}
	return fmt.Errorf("%q: must be one of %s", string(l), strings.Join(words.Names(), ", "))
}

// inLocale is the language that a locale begins with; nil without a catalogue for it.
func inLocale(locale string) *words.Language {
	for _, name := range words.Names() {
		if strings.HasPrefix(strings.ToLower(locale), name) {
			return words.In(name)
		}
	}
	return nil
}

// Speak sets the language of output: that of --lang, else of PITOT_LANG, else of the locale, and English for any other.
// Lang stays nil where nobody asked for a language: English as a locale is what machines come with.
func (s *Session) Speak(flag Language) {
	english := words.In(words.Default)
	s.Lang = nil
	if asked := cmp.Or(string(flag), s.Getenv("PITOT_LANG")); asked != "" {
		s.Lang = cmp.Or(inLocale(asked), english)
	} else if l := inLocale(cmp.Or(s.Getenv("LC_ALL"), s.Getenv("LC_MESSAGES"), s.Getenv("LANG"))); l != english {
		s.Lang = l
	}
}

// Words is the language of output.
func (s *Session) Words() *words.Language { return cmp.Or(s.Lang, words.In(words.Default)) }

// Word says what a code and arguments are in the language of output.
func (s *Session) Word(code plan.Code, args ...any) string { return s.Words().Word(code, args...) }

// Say says a message in the language of output.
func (s *Session) Say(m plan.Message) string { return s.Words().Say(m) }
