package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// conformed runs a command line of conform and reads its result.
func conformed(t *testing.T, grid string, client ...string) conform.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.json")
	sess, stdout, stderr := process(t, nil, append([]string{"conform", "--cpu", "any", "--grid", grid, "-o", file, "--"}, client...)...)
	if code := Run(sess); code != exitOK {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := conform.ReadReports(data)
	if err != nil {
		t.Fatal(err)
	}
	return reports[0]
}

// Our own clients lose and invent nothing, and no latency of theirs is shorter
// than what the server knows: a request is stamped before it leaves, and a token
// after it was written.
func TestConformOfOurOwn(t *testing.T) {
	race.Skip(t)
	const grid = "streams=8 requests=24 output=6 step=2ms first=5ms; streams=4 requests=8 arrivals=lockstep step=5ms output=4 busy=true; rate=300 requests=30 output=3 step=2ms"
	for _, tt := range []struct {
		client   string
		setAside int // the warm-up
	}{{"pitot bench", 2}, {"pitot vllm bench serve", 0}} {
		r := conformed(t, grid, strings.Fields(tt.client)...)
		if len(r.Results) != 3 || r.StartUp.CPU <= 0 || len(r.Definitions) != 4 {
			t.Fatalf("%s: %+v", tt.client, r)
		}
		for _, got := range r.Results {
			where := tt.client + ", " + got.Cell.Name
			want := conform.Requests{Asked: got.Cell.Requests, Served: got.Cell.Requests, OK: got.Cell.Requests, SetAside: tt.setAside, Peak: got.Requests.Peak}
			if got.Requests != want || got.Tokens != (conform.Tokens{Written: want.OK * got.Cell.Output, Claimed: want.OK * got.Cell.Output}) {
				t.Errorf("%s: %+v, %+v", where, got.Requests, got.Tokens)
			}
			if len(got.Figures) != 16 || got.Usage.CPU <= 0 || got.Usage.Memory <= 0 || got.Usage.Wall <= 0 || got.Failure != "" {
				t.Errorf("%s: %+v", where, got)
			}
			for _, f := range got.Figures {
				if (f.Metric == conform.TTFT || f.Metric == conform.E2EL) && f.Error() < 0 {
					t.Errorf("%s: %s %s is %v, and cannot be below %v", where, f.Metric, f.Statistic, f.Claimed, f.True)
				}
			}
		}
	}
}

// Answers that the server breaks are failures of the client's as well.
func TestConformCountsFaults(t *testing.T) {
	r := conformed(t, "streams=4 requests=40 output=4 step=1ms first=1ms faults=0.5", "pitot", "bench", "--warmup", "0")
	got := r.Results[0].Requests
	if got.Broken == 0 || got.Served == 0 || got.OK != got.Served || got.Failed != got.Broken {
		t.Errorf("%+v", got)
	}
}

// What a client leaves behind ends with it: nobody holds the other end of the pipe
// any more.
func TestConformEndsWhatAClientStarted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(pipe)
		closed <- err
	}()
	sess, _, stderr := process(t, nil, "conform", "--cpu", "any", "--", "sh", "-c", `exec 3>"$1"; sleep 600 &`, "-", pipe, "{url}")
	if code := Run(sess); code != exitFailed || !strings.Contains(stderr.String(), "it ended without one") {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
