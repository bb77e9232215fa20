package streams

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

var (
	client = flag.String("client", "", "vLLM's endpoint_request_func.py")
	python = flag.String("python", "python3", "a Python with aiohttp, regex and tqdm")
)

// What vLLM's own client makes of the rows: the same answers, the same counts, as many gaps, and
// the first token where it is said to be.
func TestVLLMsClient(t *testing.T) {
	if *client == "" {
		t.Skip("no -client")
	}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	args := []string{"testdata/client.py", *client}
	var asked []row
	for i, w := range rows() {
		if !w.one {
			path := fmt.Sprintf("/%d%s", i, w.protocol.Path())
			mux.Handle(path, &w)
			asked, args = append(asked, w), append(args, srv.URL+path)
		}
	}
	out, err := exec.CommandContext(t.Context(), *python, args...).Output()
	if err != nil {
		var failed *exec.ExitError
		errors.As(err, &failed)
		t.Fatalf("%v: %s", err, failed.Stderr)
	}
	var all []struct {
		OK     bool
		Tokens int
		TTFT   float64
		Gaps   int
		Error  string
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for i, theirs := range all {
		t.Run(asked[i].name, func(t *testing.T) {
			ours := vllm.NewFigures(asked[i].run(t), vllm.Options{Version: vllm.Versions()[0]}).Requests[0]
			const tolerance = 0.05 // of times on a machine that does other things too
			switch {
			case ours.OK != theirs.OK:
				t.Errorf("vLLM's client: ok %v, here %v: %s", theirs.OK, ours.OK, theirs.Error)
			case !ours.OK:
			case len(ours.ITL) != theirs.Gaps, theirs.Tokens != 0 && theirs.Tokens != ours.Output, math.Abs(ours.TTFT-theirs.TTFT) > tolerance:
				t.Errorf("vLLM's client: %+v; here %d tokens, TTFT %v, %d gaps", theirs, ours.Output, ours.TTFT, len(ours.ITL))
			}
		})
	}
}
