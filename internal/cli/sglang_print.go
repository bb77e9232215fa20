package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// An announcer prints a line when a request is sent, and one when it is answered.
type announcer struct {
	driver.Sender
	run *sglangRun
	mu  sync.Mutex // of the output
}

// Send sends, between two lines.
func (a *announcer) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	id, begin := newUUID(), time.Now()
	a.say(a.run.StartLine(id, begin, req))
	a.Sender.Send(ctx, req, body, rec)
	a.say(a.run.EndLine(id, time.Now(), time.Since(begin), rec))
}

func (a *announcer) say(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintln(a.run.p.Stdout, line)
}

// newUUID is a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
