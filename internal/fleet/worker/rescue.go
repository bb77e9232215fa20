package worker

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// rescue writes the records as a run that `pitot import` reads.
func (t *task) rescue(s fleet.Start, records []*trace.Record) (file string, err error) {
	r := t.prepared.Run()
	r.ID = fmt.Sprintf("%s-%d", t.order.Run, s.Share)
	r.Kind, r.Status, r.Started, r.End = trace.Measured, trace.Interrupted, t.w.epoch.Add(time.Duration(s.At)), trace.Never
	one := &trace.Trace{Run: secret.Clean(t.prepared.Secrets, r), Records: records}
	file = filepath.Join(t.w.o.Folder, "pitot-rescue-"+r.ID+".json")
	return file, files.WritePrivate(file, func(out io.Writer) error { return store.WriteJSON(out, one) })
}
