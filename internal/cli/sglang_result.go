package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
)

// report prints the table, adds a line to the result file, and says what a reader has
// to know of the figures.
func (r *sglangRun) report(ctx context.Context, t *trace.Trace) error {
	report, err := sglang.NewReport(t, "")
	if err != nil {
		return err
	}
	if r.PlotThroughput {
		fmt.Fprintln(r.p.Stdout, "tip: install termplotlib and gnuplot to plot the metrics")
	}
	fmt.Fprintln(r.p.Stdout)
	err = report.WriteTable(r.p.Stdout)
	for _, n := range report.Notes() {
		fmt.Fprintln(r.p.Stderr, "note: "+n)
	}
	err = errors.Join(err, r.save(report.Result(r.info(ctx))))
	if f := report.Figures; f.Completed == 0 && f.Failed > 0 {
		err = errors.Join(err, fmt.Errorf("none of %d requests was answered: %s", f.Failed, f.Requests[0].ErrorText))
	}
	return err
}

// info is the server's account of itself, nil if it gives none.
func (r *sglangRun) info(ctx context.Context) json.RawMessage {
	ctx, release := r.p.untilInterrupt(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, sideCall)
	defer cancel()
	info, err := r.aside.Get(ctx, r.infoRoute())
	if silentError(err) {
		r.s.sayf("note: server_info of the result file is null: %v", err)
	}
	if err != nil {
		return nil
	}
	return info
}

// save adds a line to the result file.
func (r *sglangRun) save(line []byte) error {
	file, err := os.OpenFile(r.ResultFile(time.Now()), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("save the result: %w", err)
	}
	_, err = file.Write(line)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("save the result: %w", err)
	}
	return nil
}
