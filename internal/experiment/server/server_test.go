package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

func TestALife(t *testing.T) {
	g := newStage(t)
	if err := os.WriteFile(g.o.Log, []byte("of the start before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.s.Command = "LATER=1 " + g.s.Command + " --api-key sesame-flag"
	begun := false
	g.o.SaveHandle = func(h Handle) error {
		if strings.Contains(text(t, g.o.Log), "up") {
			begun = true
		}
		secretless(t, h)
		return nil
	}
	r := g.start(t)
	if begun {
		t.Error("it began before its handle was kept")
	}
	out := g.up(t)
	took, err := r.Ready(t.Context())
	if err != nil || took <= 0 {
		t.Errorf("ready after %v, %v", took, err)
	}
	select {
	case <-r.Done():
		t.Error("it has ended")
	default:
	}
	if got := r.Ended(); got.Exit != nil {
		t.Errorf("%+v", got)
	}
	s, err := r.Stop(t.Context())
	if err != nil || s.Forced || len(s.Unverified) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
	<-r.Done()
	l := r.Life()
	if l.Ready != took || l.Exit == nil || l.Exit.Code != 0 || l.Lasted < took || l.Stopped == nil || l.Runner != "local" {
		t.Errorf("%+v", l)
	}
	if want := []string{"up with the key ***", "got a TERM"}; !slices.Equal(l.Lines, want) {
		t.Errorf("lines %q", l.Lines)
	}
	if log := text(t, g.o.Log); !strings.HasPrefix(log, "of the start before\nup with the key sesame") {
		t.Errorf("log %q", log)
	}
	secretless(t, l, r.Ended())
	if again, err := r.Stop(t.Context()); err != nil || again.Took != s.Took {
		t.Errorf("%+v, %v", again, err)
	}
	g.nothing(t, r.Handle())
}

func TestAServerThatDiesAtOnce(t *testing.T) {
	g := newStage(t)
	g.s.Command = `echo "no such model, $API_KEY" >&2; exit 3`
	r := g.start(t)
	_, err := r.Ready(t.Context())
	ended := (*EndedError)(nil)
	if !errors.As(err, &ended) || ended.Exit.Code != 3 || !slices.Equal(ended.Lines, []string{"no such model, ***"}) {
		t.Errorf("%v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "exit code 3; the last lines of its log:\n\tno such model, ***") {
		t.Errorf("%v", err)
	}
	<-r.Done()
	if s, err := r.Stop(t.Context()); err != nil || s.Forced {
		t.Errorf("%+v, %v", s, err)
	}
}

// A signal is told by its name, and what the server left behind by its number.
func TestAServerThatIsKilled(t *testing.T) {
	g := newStage(t)
	g.s.Command = `(` + g.s.Command + `) & exec 3<>"` + g.pipe + `.2"; read -r go <&3; kill -9 $$`
	fifo(t, g.pipe+".2")
	r := g.start(t)
	out := g.up(t)
	if _, err := r.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.pipe+".2", []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	end := r.Ended()
	if end.Exit.Signal != "SIGKILL" || end.Left != 1 {
		t.Errorf("%+v", end)
	}
	if s, err := r.Stop(t.Context()); err != nil || s.Forced {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
}

func TestAServerThatIsNeverReady(t *testing.T) {
	for name, c := range map[string]struct{ answers, want string }{
		"loading": {`{"/health": 503, "/v1/models": 200}`, "/health: HTTP 503"}, // as llama.cpp
		"refuses": {`{"/v1/models": 401}`, "/v1/models: HTTP 401"},
		"nothing": {`{"/x": 1}`, "/v1/models: HTTP 404"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newStage(t)
			g.s.Env["TEST_ANSWERS"] = c.answers
			g.s.ReadyTimeout = plan.Duration(time.Nanosecond)
			r := g.start(t)
			g.up(t)
			_, err := r.Ready(t.Context())
			late := (*NotReadyError)(nil)
			if !errors.As(err, &late) || !strings.Contains(err.Error(), c.want) || len(late.Lines) == 0 {
				t.Errorf("%v", err)
			}
			secretless(t, err, late.Message())
		})
	}
}

func TestRoutes(t *testing.T) {
	for name, c := range map[string]struct{ ready, answers string }{
		"health":    {"", `{"/health": 200}`},
		"no health": {"", `{"/v1/models": 200}`},
		"its own":   {"up/now", `{"/up/now": 200, "/health": 500}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := newStage(t)
			g.s.Ready, g.s.Env["TEST_ANSWERS"] = c.ready, c.answers
			r := g.start(t)
			g.up(t)
			if _, err := r.Ready(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAServerThatIgnoresTERM(t *testing.T) {
	g := newStage(t)
	g.s.Env["TEST_TERM"] = "ignored"
	g.s.StopTimeout = plan.Duration(50 * time.Millisecond)
	r := g.start(t)
	out := g.up(t)
	s, err := r.Stop(t.Context())
	if err != nil || !s.Forced {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
	if got := r.Ended(); got.Exit.Signal != "SIGKILL" || got.Left != 0 {
		t.Errorf("%+v", got)
	}
	close(g.told)
	var codes []plan.Code
	for code := range g.told {
		codes = append(codes, code)
	}
	if !slices.Contains(codes, "server.waiting-exit") || !slices.Contains(codes, "server.killing") {
		t.Errorf("told %v", codes)
	}
}

// A second interrupt kills at once, although there is a minute left.
func TestHurry(t *testing.T) {
	g := newStage(t)
	g.s.Env["TEST_TERM"] = "ignored"
	hurry := make(chan struct{})
	g.o.Hurry = hurry
	g.o.OnWait = func(m plan.Message) {
		if m.Code == "server.waiting-exit" {
			close(hurry)
		}
	}
	r := g.start(t)
	out := g.up(t)
	if s, err := r.Stop(t.Context()); err != nil || !s.Forced {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
}

// Stop ends what called setsid too, and what has no parent any more.
func TestAServerThatLeavesChildren(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("this system has no setsid")
	}
	g := newStage(t)
	// The shell ends when both processes that it leaves are there.
	g.s.Command = `{ setsid sh -c 'exec 3>"` + g.pipe + `"; trap "" HUP; sleep 600 & echo up >&3; echo up; wait' & } | read -r up; exit 0`
	r := g.start(t)
	g.r = nil // its end is not that of what opens the pipe
	out := g.up(t)
	_, err := r.Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit code 0, and left 2 processes behind: its command must stay in the foreground") {
		t.Errorf("%v", err)
	}
	if _, err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	gone(t, out)
}

func TestAPortThatIsTaken(t *testing.T) {
	g := newStage(t)
	l, err := net.Listen("tcp", strings.TrimPrefix(g.o.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	saved := false
	g.o.SaveHandle = func(Handle) error { saved = true; return nil }
	_, err = Start(t.Context(), g.s, g.o)
	taken := (*TakenError)(nil)
	if !errors.As(err, &taken) || saved {
		t.Fatalf("%v, kept %v", err, saved)
	}
	want := "port " + taken.Port + " is taken"
	if runtime.GOOS == "linux" {
		want = fmt.Sprintf("port %s is taken: something answers at %s before the server is started: process %d ", taken.Port, g.o.URL, os.Getpid())
	}
	if !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "end it, or choose another port") {
		t.Errorf("%v", err)
	}
}

// Something takes the port when the server has ended: that is said, and no error.
func TestAPortThatIsNotFreeAfterwards(t *testing.T) {
	g := newStage(t)
	var taken atomic.Bool
	g.o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if taken.Load() {
			c, _ := net.Pipe()
			return c, nil
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	g.o.Waits.Verify = time.Nanosecond
	r := g.start(t)
	g.up(t)
	taken.Store(true)
	s, err := r.Stop(t.Context())
	if err != nil || len(s.Unverified) != 1 || s.Unverified[0].Code != "server.port-still-taken" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestStopAfterAnInterrupt(t *testing.T) {
	g := newStage(t)
	r := g.start(t)
	out := g.up(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Ready(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if s, err := r.Stop(ctx); err != nil || s.Forced {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
	if _, err := Start(ctx, g.s, g.o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestStartsThatFail(t *testing.T) {
	g := newStage(t)
	mark := filepath.Join(t.TempDir(), "begun")
	g.s.Command = "touch " + mark
	full := errors.New("the store is full")
	var kept Handle
	g.o.SaveHandle = func(h Handle) error { kept = h; return full }
	if _, err := Start(t.Context(), g.s, g.o); !errors.Is(err, full) {
		t.Error(err)
	}
	g.nothing(t, kept)
	if _, err := os.Stat(mark); err == nil {
		t.Error("it began")
	}
	g.o.SaveHandle = nil
	g.s.Cwd = mark
	if _, err := Start(t.Context(), g.s, g.o); err == nil || !strings.Contains(err.Error(), mark) {
		t.Errorf("a folder that is not there: %v", err)
	}
	g.s.Command = ""
	if _, err := Start(t.Context(), g.s, g.o); err == nil || err.Error() != "command: must be given" {
		t.Error(err)
	}
}

// Two Ready of one server are none of its business; a client of one's own is used.
func TestAClientOfOnesOwn(t *testing.T) {
	g := newStage(t)
	asked := ""
	g.o.HTTP = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.Path
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})}
	r := g.start(t)
	g.up(t)
	if _, err := r.Ready(t.Context()); err != nil || asked != "/health" {
		t.Errorf("asked %q, %v", asked, err)
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
