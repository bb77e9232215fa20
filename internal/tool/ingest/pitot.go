package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// isPitot knows what `pitot runs export` writes by its members.
func isPitot(o *result.Object) bool { return o.Object("run") != nil && o.List("records") != nil }

func exports() result.Format {
	return result.Format{Is: isPitot, Read: readExport, Explain: func(o *result.Object) string {
		if o.Has("run", "service") {
			return "it is a report of Pitot's: its run is in the store that it was made with, and `pitot runs export` writes it with its records"
		}
		return ""
	}}
}

func readExport(r *result.Reading) {
	f, err := readPitot(from(r.Source, r.Object))
	if err != nil {
		r.Problem(fmt.Errorf("it is an export of Pitot's: %w", err))
		return
	}
	if o := r.Object.Object("telemetry"); o != nil {
		f.Sampled = func() (*telemetry.Set, error) { return readTelemetry(from(r.Source, o)) }
	}
	r.AddRun(f)
}

func from(s result.Source, o *result.Object) result.Source {
	rest := s.Size - o.At.Offset
	return result.Source{Name: s.Name, Data: io.NewSectionReader(s.Data, o.At.Offset, rest), Size: rest}
}

// readTelemetry reads the sources and, one by one, the series of an export.
func readTelemetry(s result.Source) (*telemetry.Set, error) {
	set := &telemetry.Set{}
	err := member(s, "sources", func(d *json.Decoder) error { return d.Decode(&set.Sources) })
	if err != nil {
		return nil, err
	}
	points := 0
	err = member(s, "series", func(d *json.Decoder) error {
		return eachOf(d, func() error {
			one := new(telemetry.Series)
			if err := d.Decode(one); err != nil {
				return err
			}
			if points += len(one.Points); points > telemetry.MostPoints {
				return telemetry.ErrTooMany
			}
			set.Extend(one)
			return nil
		})
	})
	return set, err
}

// readPitot reads what `pitot runs export -f json` writes: a run as it was, with its
// own id, and its records one by one.
func readPitot(s result.Source) (result.Found, error) {
	f := result.Found{Run: trace.Run{End: trace.Never}}
	err := member(s, "run", func(d *json.Decoder) error { return d.Decode(&f.Run) })
	if err == nil && f.Run.ID == "" {
		err = errors.New("its run has no id")
	}
	f.Run.Env.Tidy()
	if o := f.Run.Origin; o != nil && o.Note != nil {
		o.Note = readNote(o.Note)
	}
	f.Records = func(yield func(*trace.Record, error) bool) {
		err := member(s, "records", func(d *json.Decoder) error { return yieldRecords(d, yield) })
		if err != nil {
			yield(nil, err)
		}
	}
	return f, err
}

// yieldRecords reads a list of records, until yield returns false.
func yieldRecords(d *json.Decoder, yield func(*trace.Record, error) bool) error {
	err := eachOf(d, func() error {
		r := trace.NewRecord(0)
		if err := d.Decode(r); err != nil {
			return err
		}
		if !yield(r, nil) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

var errEnough = errors.New("nobody wants more")

// eachOf calls read for each item of a list; read must read it.
func eachOf(d *json.Decoder, read func() error) error {
	if err := expect(d, json.Delim('[')); err != nil {
		return err
	}
	for d.More() {
		if err := read(); err != nil {
			return err
		}
	}
	return expect(d, json.Delim(']'))
}

// member lets read have the value of a member, if there is one, and passes over those
// before it.
func member(s result.Source, name string, read func(*json.Decoder) error) error {
	d := json.NewDecoder(io.NewSectionReader(s.Data, 0, s.Size))
	err := expect(d, json.Delim('{'))
	for err == nil && d.More() {
		var token json.Token
		switch token, err = d.Token(); {
		case err != nil:
		case token != name:
			err = d.Decode(new(json.RawMessage))
		default:
			if err = read(d); err != nil {
				err = fmt.Errorf("%s, before byte %d: %w", name, d.InputOffset(), err)
			}
			return err
		}
	}
	return err
}

func expect(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err == nil && token != want {
		err = fmt.Errorf("%v where %v should be", token, want)
	}
	return err
}
