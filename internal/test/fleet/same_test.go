package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/proof/truth"
)

// Workers that are processes send what one process would.
func TestWorkersSendTheSame(t *testing.T) {
	server, url := serve(t, truth.Config{TTFT: 20 * time.Millisecond, Step: 5 * time.Millisecond})
	p := newPlace(t)
	p.up()
	for i := range 2 {
		p.worker(fmt.Sprintf("w%d", i))
	}
	c := p.bench("--url", url, "-n", "100", "--rate", "50", "--output-len", "8", "--warmup", "0")
	if code := c.wait(); code != 0 {
		t.Fatalf("exit code %d:\n%s%s", code, c.out, c.errs)
	}
	r := p.stored()
	if n := len(server.Log().Requests); n < 100 || len(r.Records) != 100 || r.Run.Fleet == nil {
		t.Errorf("%d requests, %d records, fleet %+v", n, len(r.Records), r.Run.Fleet)
	}
}
