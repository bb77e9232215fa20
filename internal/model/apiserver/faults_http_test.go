package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// chunked joins the chunks of a body as sent, one string each, and whether the
// last one, of length 0, came.
func chunked(t *testing.T, wire string) (head string, chunks []string, complete bool) {
	t.Helper()
	head, body, _ := strings.Cut(wire, "\r\n\r\n")
	for body != "" {
		var n int
		size, rest, _ := strings.Cut(body, "\r\n")
		if _, err := fmt.Sscanf(size, "%x", &n); err != nil {
			t.Fatalf("chunk size %q: %v", size, err)
		}
		if n == 0 {
			return head, chunks, true
		}
		chunks = append(chunks, rest[:n])
		body = rest[n+2:]
	}
	return head, chunks, false
}

// faulty is a request of five tokens to a server with these faults: what came
// over the wire, how long it took, and the truth about it.
func faulty(t *testing.T, path, fields string, faults ...string) (wire string, took time.Duration, truth TruthRequest) {
	t.Helper()
	cfg := constantConfig()
	cfg.StallLimit = time.Minute
	for _, f := range faults {
		cfg.Faults = append(cfg.Faults, mustFault(t, f))
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cfg)
		wire = r.wire(path, `{"prompt":"a","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"ignore_eos":true`+
			fields+`}`)
		took = time.Since(r.start)
		synctest.Wait()
		truth = r.truth("").Requests[0]
	})
	return wire, took, truth
}

func mustFault(t testing.TB, s string) Fault {
	t.Helper()
	f, err := ParseFault(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const (
	errorEvent = `data: {"error": {"message": "Internal server error", "type": "InternalServerError", "param": null, ` +
		`"code": 500}}`
	doneEvent = "data: [DONE]"

	streamed  = `,"stream":true`
	withUsage = `,"stream":true,"stream_options":{"include_usage":true}`
)

func TestFatalFaultsOfStreams(t *testing.T) {
	for _, test := range []struct {
		fault    string
		after    int // tokens written
		took     time.Duration
		complete bool   // the last, empty chunk came
		tail     string // of the body, after the tokens
	}{
		{"truncate=1@3", 3, 30 * ms, true, ""},
		{"truncate=1", 0, 0, true, ""},
		{"truncate=1@99", 5, 40 * ms, true, ""},
		{"cut=1@3", 3, 30 * ms, false, `data: {"id":"cmpl-w","object":"text_completion"`},
		{"cut=1", 0, 0, false, `data: {"id":"cmpl-w","object":"text_completion"`},
		{"stall=1@2", 2, 25*ms + time.Minute, false, ""},
		{"stream-error=1@1", 1, 20 * ms, true, errorEvent + "\n\n" + doneEvent + "\n\n"},
		{"reset=1@2", 2, 25 * ms, false, ""},
	} {
		t.Run(test.fault, func(t *testing.T) {
			wire, took, truth := faulty(t, completions, withUsage, test.fault)
			head, chunks, complete := chunked(t, wire)
			if !strings.HasPrefix(head, "HTTP/1.1 200 OK") || complete != test.complete || took != test.took {
				t.Errorf("complete %v after %v, want %v after %v:\n%s", complete, took, test.complete, test.took, wire)
			}
			body := strings.Join(chunks, "")
			if n := strings.Count(body, `null}]}`); n != test.after || strings.Contains(body, `"finish_reason":"`) ||
				strings.Contains(body, "usage") {
				t.Errorf("%d tokens, want %d without an end:\n%s", n, test.after, body)
			}
			tail := body
			for range test.after {
				_, tail, _ = strings.Cut(tail, "\n\n")
			}
			if test.tail == "" && tail != "" || !strings.HasPrefix(tail, test.tail) {
				t.Errorf("tail %q, want %q", tail, test.tail)
			}
			name, _, _ := strings.Cut(test.fault, "=")
			if !slices.Equal(truth.Faults, []string{name}) || truth.OutputTokens != test.after || truth.FinishReason != "" ||
				truth.ClientGone {
				t.Errorf("truth %+v", truth)
			}
		})
	}
}

func TestResetAtOnceWritesNothing(t *testing.T) {
	for _, fields := range []string{``, streamed} {
		wire, took, truth := faulty(t, completions, fields, "reset=1")
		if wire != "" || took != 0 || truth.Status != 0 || len(truth.Before) != 0 {
			t.Errorf("%q after %v, truth %+v", wire, took, truth)
		}
	}
}

func TestMalformedBreaksOneEvent(t *testing.T) {
	for after := range 8 {
		wire, _, truth := faulty(t, completions, withUsage, fmt.Sprintf("malformed=1@%d", after))
		_, chunks, complete := chunked(t, wire)
		var broken []int
		for i, c := range chunks {
			if data := strings.TrimSuffix(strings.TrimPrefix(c, "data: "), "\n\n"); !json.Valid([]byte(data)) &&
				data != "[DONE]" {
				broken = append(broken, i)
			}
		}
		if !complete || len(chunks) != 7 || !slices.Equal(broken, []int{min(after, 4)}) {
			t.Errorf("after %d: %d events, broken %v", after, len(chunks), broken)
		}
		finish := "length"
		if after >= 4 { // it stood in the broken event
			finish = ""
		}
		if truth.OutputTokens != 5 || truth.FinishReason != finish || !slices.Equal(truth.Faults, []string{FaultMalformed}) {
			t.Errorf("after %d: truth %+v", after, truth)
		}
	}
}

func TestStatusFaults(t *testing.T) {
	for _, test := range []struct {
		fault  string
		status int
		retry  bool
	}{
		{FaultHTTP429, http.StatusTooManyRequests, true},
		{FaultHTTP500, http.StatusInternalServerError, false},
		{FaultHTTP503, http.StatusServiceUnavailable, true},
	} {
		for _, fields := range []string{``, streamed} {
			wire, took, truth := faulty(t, chats, fields, test.fault+"=1")
			head, body, _ := strings.Cut(wire, "\r\n\r\n")
			var e struct{ Error phrase.Error }
			if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error.Code != test.status {
				t.Errorf("%s: %v in %s", test.fault, err, body)
			}
			if !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", test.status)) ||
				strings.Contains(head, "Retry-After: 1") != test.retry || took != 0 {
				t.Errorf("%s after %v: %s", test.fault, took, head)
			}
			if truth.Status != test.status || !slices.Equal(truth.Faults, []string{test.fault}) {
				t.Errorf("%s: truth %+v", test.fault, truth)
			}
		}
	}
}

func TestFatalFaultsOfWholeResponses(t *testing.T) {
	whole, took, _ := faulty(t, completions, ``)
	_, good, _ := strings.Cut(whole, "\r\n\r\n")
	if took != 40*ms || !json.Valid([]byte(good)) {
		t.Fatalf("without a fault, after %v: %s", took, good)
	}
	for _, test := range []struct {
		fault  string
		took   time.Duration
		status string
		length int // as declared
		body   int // as sent
	}{
		{"truncate=1", 0, "200 OK", len(good) / 2, len(good) / 2},
		{"cut=1@3", 30 * ms, "200 OK", len(good), len(good) / 2},
		{"malformed=1@9", 40 * ms, "200 OK", len(good), len(good)},
		{"stream-error=1@1", 20 * ms, "500 Internal Server Error", 98, 98},
	} {
		t.Run(test.fault, func(t *testing.T) {
			wire, took, truth := faulty(t, completions, ``, test.fault)
			head, body, _ := strings.Cut(wire, "\r\n\r\n")
			if !strings.HasPrefix(head, "HTTP/1.1 "+test.status) ||
				!strings.Contains(head, fmt.Sprintf("Content-Length: %d", test.length)) || len(body) != test.body {
				t.Errorf("%s\n%d bytes: %s", head, len(body), body)
			}
			if test.status == "200 OK" && json.Valid([]byte(body)) {
				t.Errorf("the body is good: %s", body)
			}
			if took != test.took && test.fault != "malformed=1@9" || len(truth.Faults) != 1 || truth.OutputTokens != 0 {
				t.Errorf("after %v, truth %+v", took, truth)
			}
		})
	}
}

func TestVariationsCarryTheSameAnswer(t *testing.T) {
	plain, _, _ := faulty(t, chats, withUsage)
	for _, faults := range [][]string{
		{FaultComments},
		{FaultCRLF},
		{FaultSplit},
		{FaultBatch},
		{FaultNoUsage},
		{FaultNoDone},
		{FaultMultiToken},
		{FaultEarlyRole},
		{FaultComments, FaultCRLF, FaultSplit, FaultBatch, FaultMultiToken, FaultEarlyRole},
		{FaultBatch, FaultNoUsage, FaultNoDone},
	} {
		t.Run(strings.Join(faults, " "), func(t *testing.T) {
			dealt := make([]string, len(faults))
			for i, f := range faults {
				dealt[i] = f + "=1"
			}
			wire, took, truth := faulty(t, chats, withUsage, dealt...)
			has := func(f string) bool { return slices.Contains(faults, f) }
			_, chunks, complete := chunked(t, wire)
			body := strings.Join(chunks, "")
			if !complete || took != 40*ms || !slices.Equal(truth.Faults, slices.Clone(faults)) {
				t.Errorf("complete %v after %v, faults %v", complete, took, truth.Faults)
			}
			if got, want := content(t, body), content(t, plainBody(t, plain)); got != want {
				t.Errorf("content %q, want %q", got, want)
			}
			if strings.Contains(body, ": keep-alive") != has(FaultComments) ||
				strings.Contains(body, "\r\n\r\n") != has(FaultCRLF) {
				t.Errorf("comments or line ends: %q", body)
			}
			if strings.Contains(body, `"usage"`) == has(FaultNoUsage) || strings.Contains(body, "[DONE]") == has(FaultNoDone) {
				t.Errorf("usage or end: %q", body)
			}
			if truth.OutputTokens != 5 || sum(truth.Bytes) != len(body) || truth.FinishReason != "length" {
				t.Errorf("truth %+v of %d bytes", truth, len(body))
			}
			if events := strings.Count(body, "data: "); sum(truth.Events) != events {
				t.Errorf("%d events in the truth, %d written", sum(truth.Events), events)
			}
			if most := slices.Max(truth.Tokens); (most > 1) != (has(FaultBatch) || has(FaultMultiToken)) {
				t.Errorf("up to %d tokens in a write", most)
			}
			if few := strings.Count(body, `"content":"`) < 6; few != has(FaultMultiToken) {
				t.Errorf("few chunks: %v", few)
			}
		})
	}
}

func plainBody(t *testing.T, wire string) string {
	t.Helper()
	_, chunks, _ := chunked(t, wire)
	return strings.Join(chunks, "")
}

// content is the output of a chat stream, read as an SSE client should.
func content(t *testing.T, body string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		for _, c := range (event{data: data}).chunk(t).Choices {
			out.WriteString(*c.Delta.Content)
		}
	}
	return out.String()
}

func sum(xs []int) int {
	total := 0
	for _, x := range xs {
		total += x
	}
	return total
}

func TestEarlyRoleComesAtOnce(t *testing.T) {
	for fault, want := range map[string]int64{"early-role=1": 0, "early-role=0": int64(20 * ms)} {
		_, _, truth := faulty(t, chats, streamed, fault)
		if truth.Events[1] != 1 || truth.Tokens[1] != 0 || truth.Before[1] != want {
			t.Errorf("%s: truth %+v", fault, truth)
		}
	}
}

func TestSplitWritesPieces(t *testing.T) {
	wire, _, truth := faulty(t, completions, streamed, "split=1")
	_, chunks, _ := chunked(t, wire)
	whole := 0
	for i, c := range chunks { // the first write is that of the headers
		if truth.Bytes[i+1] != len(c) {
			t.Errorf("write %d of %d bytes, truth says %d", i, len(c), truth.Bytes[i+1])
		}
		if strings.HasPrefix(c, "data: ") && strings.HasSuffix(c, "\n\n") {
			whole++
		}
	}
	if len(chunks) < 9 || whole > 3 {
		t.Errorf("%d pieces, %d of them whole events", len(chunks), whole)
	}
}

func TestStallEndsWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := constantConfig()
		cfg.Faults = []Fault{mustFault(t, "stall=1@1")}
		r := newRig(t, cfg)
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		resp, err := r.do(ctx, "POST", completions, `{"prompt":"a","stream":true}`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if events, err := r.events(resp.Body); len(events) != 1 || err == nil {
			t.Errorf("%d events, error %v", len(events), err)
		}
		synctest.Wait()
		if q := r.truth("").Requests[0]; !q.ClientGone || !slices.Equal(q.Faults, []string{FaultStall}) {
			t.Errorf("truth %+v", q)
		}
	})
}

func TestRefusedConnectionsInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Faults: []Fault{mustFault(t, "refuse=0.4")}}
		r := newRig(t, cfg)
		r.client.Transport.(*http.Transport).DisableKeepAlives = true
		var got []bool
		for range 10 { // open for 30 of every 50 ms
			resp, err := r.do(t.Context(), "GET", "/health", "")
			if err == nil {
				_ = resp.Body.Close()
			}
			got = append(got, err == nil)
			time.Sleep(10 * ms)
		}
		want := []bool{true, true, true, false, false, true, true, true, false, false}
		if !slices.Equal(got, want) {
			t.Errorf("accepted %v, want %v", got, want)
		}
		time.Sleep(refusePeriod - time.Since(r.start)%refusePeriod) // open for the rig's end
	})
}
