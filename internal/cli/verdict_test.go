package cli

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// scarce dials until so many connections are made, and then has no files left.
func scarce(connections int64) func(context.Context, string, string) (net.Conn, error) {
	var made atomic.Int64
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if made.Add(1) > connections {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EMFILE}
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// A run that is not valid is reported and kept with its verdict, and the exit code
// tells, where it is asked to.
func TestRequireValid(t *testing.T) {
	race.Skip(t)
	url := loopback(t)
	port := url[strings.LastIndex(url, ":")+1:]
	bench := "bench -q --url " + url + " -n 20 --arrival at-once --output-len 3 --warmup 0 --store runs.db "
	vllm := "vllm bench serve --port " + port + " --num-prompts 20 --random-input 8 --random-output 3 --disable-tqdm "
	const says = "pitot: the run is invalid, and --require-valid asks for a valid one\n"
	for _, tt := range []struct {
		args   string
		code   int
		report string
	}{
		{bench, exitOK, "INVALID: "},
		{bench + "--require-valid", exitNotMet, "INVALID: "},
		{bench + "--require-valid --report vllm", exitNotMet, "Serving Benchmark Result"},
		{vllm, exitOK, "Serving Benchmark Result"},
		{vllm + "--require-valid", exitNotMet, "Serving Benchmark Result"},
	} {
		t.Chdir(t.TempDir())
		sess, stdout, stderr := process(t, map[string]string{}, strings.Fields(tt.args)...)
		sess.Env = func(name string) (string, bool) { return "runs.db", name == "PITOT_STORE" }
		sess.Dial = scarce(8)
		code := Run(sess)
		if code != tt.code || !strings.Contains(stdout.String(), tt.report) || strings.HasSuffix(stderr.String(), says) != (tt.code == exitNotMet) {
			t.Errorf("%s: exit code %d\n%s%s", tt.args, code, stdout, stderr)
		}
		if strings.Contains(tt.report, "Serving") && !strings.Contains(stderr.String(), "pitot: INVALID run") {
			t.Errorf("%s: nothing is said of the run:\n%s", tt.args, stderr)
		}
		stored := lastIn(t, "runs.db")
		if v := stored.Run.Verdict; v == nil || v.Validity != trace.Invalid || !strings.Contains(english().SayAll("stop", v.Reasons), "file descriptors") {
			t.Errorf("%s: the verdict kept is %+v", tt.args, v)
		}
	}
}

func lastIn(t *testing.T, file string) *trace.Trace {
	t.Helper()
	runs, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	tr, err := runs.Load("last")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// What could not be done goes before what was found.
func TestAVerdictIsNoExcuse(t *testing.T) {
	sess, _, stderr := process(t, nil, strings.Fields("bench -q --url "+loopback(t)+" -n 20 --arrival at-once --output-len 3 --warmup 0 --require-valid")...)
	sess.Stdout, sess.Dial = brokenPipe{}, scarce(8)
	if code := Run(sess); code != exitFailed || !strings.Contains(stderr.String(), "the run is invalid") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
