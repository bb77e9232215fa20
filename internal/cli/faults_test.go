package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// loopback starts an engine with faults on a real socket.
func loopback(t *testing.T, faults ...apiserver.Fault) (url string) {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{
		Faults:  faults,
		Latency: engine.Latency{TTFT: arrival.FixedDuration(3 * time.Millisecond), ITL: arrival.FixedDuration(2 * time.Millisecond)},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// bench runs `pitot bench` against url and returns its figures.
func bench(t *testing.T, url string, args ...string) metrics.Summary {
	t.Helper()
	var stdout, stderr bytes.Buffer
	line := append([]string{"bench", "-q", "--url", url, "--report", "json", "--warmup", "0", "--store", filepath.Join(t.TempDir(), "runs.db")}, args...)
	for _, preset := range [][]string{{"--ready-timeout", "0"}, {"--tokenizer", "none"}} {
		if !slices.Contains(args, preset[0]) {
			line = append(line, preset...)
		}
	}
	sess := &session.Session{
		Args: line,
		Env:  func(string) (string, bool) { return "", false }, Stdout: &stdout, Stderr: &stderr, Signals: make(chan os.Signal),
	}
	if code := Run(sess); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var s metrics.Summary
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// witnessed is what the engine says of the requests that it saw: how many there
// were, and how many of them a fault struck.
func witnessed(t *testing.T, url, fault string) (seen, struck int) {
	t.Helper()
	resp, err := http.Get(url + "/pitot/truth")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var truth apiserver.Truth
	if err := json.NewDecoder(resp.Body).Decode(&truth); err != nil {
		t.Fatal(err)
	}
	for _, r := range truth.Requests {
		if !strings.HasPrefix(r.ID, "pitot-") {
			continue
		}
		seen++
		for _, f := range r.Faults {
			if f == fault {
				struck++
			}
		}
	}
	return seen, struck
}

// Each fault, switched on for a share of the requests, ends in its class, as
// often as the engine says that it struck; the others are unharmed.
func TestEachFaultEndsInItsClass(t *testing.T) {
	const n = 30
	for _, tt := range []struct {
		fault  apiserver.Fault
		class  trace.Class
		status int
	}{
		{apiserver.Fault{Name: apiserver.FaultReset, AfterTokens: 3}, trace.Reset, 0},
		{apiserver.Fault{Name: apiserver.FaultReset}, trace.Reset, 0},
		{apiserver.Fault{Name: apiserver.FaultStall, AfterTokens: 3}, trace.Timeout, 0},
		{apiserver.Fault{Name: apiserver.FaultTruncate, AfterTokens: 3}, trace.Truncated, 0},
		{apiserver.Fault{Name: apiserver.FaultCut, AfterTokens: 3}, trace.Closed, 0},
		{apiserver.Fault{Name: apiserver.FaultStreamError, AfterTokens: 3}, trace.StreamError, 0},
		{apiserver.Fault{Name: apiserver.FaultMalformed, AfterTokens: 3}, trace.Malformed, 0},
		{apiserver.Fault{Name: apiserver.FaultHTTP429}, trace.HTTP, 429},
		{apiserver.Fault{Name: apiserver.FaultHTTP500}, trace.HTTP, 500},
		{apiserver.Fault{Name: apiserver.FaultHTTP503}, trace.HTTP, 503},
	} {
		for _, way := range []string{"h1 completions", "h1 chat", "nethttp completions", "nethttp chat"} {
			tt.fault.Share = 0.3
			t.Run(fmt.Sprint(tt.fault, " ", way), func(t *testing.T) {
				t.Parallel()
				url := loopback(t, tt.fault)
				client, protocol, _ := strings.Cut(way, " ")
				args := []string{"-n", fmt.Sprint(n), "--output-len", "6", "--client", client, "--no-resend"}
				if tt.class == trace.Timeout { // all at once, so that they stall at once
					args = append(args, "-c", fmt.Sprint(n), "--idle-timeout", "5s")
				} else {
					args = append(args, "-c", "8")
				}
				if protocol == "chat" {
					args = append(args, "--protocol", "chat", "--tokenizer", "server")
				}
				s := bench(t, url, args...)
				seen, struck := witnessed(t, url, tt.fault.Name)
				for end := time.Now().Add(10 * time.Second); seen < n && time.Now().Before(end); {
					seen, struck = witnessed(t, url, tt.fault.Name) // the engine notes a request when it has noticed its end
				}
				if seen != n || struck == 0 || struck == n {
					t.Fatalf("the engine saw %d requests and struck %d", seen, struck)
				}
				if s.Requests.OK != n-struck || s.Tokens.Output != 6*s.Requests.OK {
					t.Errorf("%d ok with %d tokens, want %d with 6 each", s.Requests.OK, s.Tokens.Output, n-struck)
				}
				if len(s.Requests.Classes) != 1 {
					t.Fatalf("classes %+v", s.Requests.Classes)
				}
				if c := s.Requests.Classes[0]; c.Class != tt.class || c.Status != tt.status || c.Count != struck {
					t.Errorf("%+v, want %d of %s %d", c, struck, tt.class, tt.status)
				}
			})
		}
	}
}

// Connections made while the listener is closed are refused; one that is caught
// in the accept queue as it closes is reset by the kernel.
func TestRefusedConnections(t *testing.T) { eachClient(t, refusedConnections) }

func refusedConnections(t *testing.T, client string) {
	const n = 200
	url := loopback(t, apiserver.Fault{Name: apiserver.FaultRefuse, Share: 0.4})
	s := bench(t, url, "-n", fmt.Sprint(n), "--rate", "400", "--arrival", "constant", "--new-connections", "--output-len", "2", "--ready-timeout", "20s", "--client", client)
	count := map[trace.Class]int{}
	for _, c := range s.Requests.Classes {
		count[c.Class] = c.Count
	}
	if count[trace.Refused] == 0 || count[trace.Refused]+count[trace.Reset] != s.Requests.Failed || s.Requests.OK == 0 {
		t.Errorf("%d ok, failures %v", s.Requests.OK, count)
	}
	if s.Tokens.Output != 2*s.Requests.OK {
		t.Errorf("%d tokens in %d answers", s.Tokens.Output, s.Requests.OK)
	}
}

// What is unusual but correct is no failure and loses no token.
func TestVariationsAreSurvived(t *testing.T) {
	race.Skip(t)
	const n = 40
	for _, name := range []string{
		apiserver.FaultComments, apiserver.FaultCRLF, apiserver.FaultSplit, apiserver.FaultBatch, apiserver.FaultNoUsage,
		apiserver.FaultNoDone, apiserver.FaultMultiToken, apiserver.FaultEarlyRole,
	} {
		t.Run(name, func(t *testing.T) {
			eachClient(t, func(t *testing.T, client string) {
				url := loopback(t, apiserver.Fault{Name: name, Share: 0.6})
				s := bench(t, url, "-n", fmt.Sprint(n), "-c", "4", "--output-len", "9", "--protocol", "chat", "--tokenizer", "server", "--client", client)
				seen, struck := witnessed(t, url, name)
				if seen != n || struck == 0 || struck == n {
					t.Fatalf("the engine saw %d requests and struck %d", seen, struck)
				}
				if s.Requests.OK != n {
					t.Errorf("%d ok: %+v", s.Requests.OK, s.Requests.Classes)
				}
				if name == apiserver.FaultNoUsage {
					if s.Tokens.Assumed != struck {
						t.Errorf("%d requests counted by chunks, %d had no usage", s.Tokens.Assumed, struck)
					}
				} else if s.Tokens.Output != 9*n {
					t.Errorf("%d tokens, want %d", s.Tokens.Output, 9*n)
				}
				if name == apiserver.FaultEarlyRole && s.Service.TTFT.Min < .003 {
					t.Errorf("TTFT %v: the role chunk was taken for a token", s.Service.TTFT.Min)
				}
			})
		})
	}
}

// eachClient runs a test with each engine of the transport.
func eachClient(t *testing.T, test func(t *testing.T, client string)) {
	for _, client := range []string{"h1", "nethttp"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			test(t, client)
		})
	}
}
