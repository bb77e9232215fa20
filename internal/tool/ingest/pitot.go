package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// isPitot knows what `pitot runs export` writes by its members.
func isPitot(o *result.Object) bool { return o.Object("run") != nil && o.List("records") != nil }

// exports are runs that Pitot exported.
func exports() result.Format {
	return result.Format{Is: isPitot, Read: readExport, Explain: func(o *result.Object) string {
		if o.Has("run", "service") {
			return "it is a report of Pitot's: its run is in the store that it was made with, and `pitot runs export` writes it with its records"
		}
		return ""
	}}
}

// readExport takes a run of Pitot's own.
func readExport(r *result.Reading) {
	from := r.Source.Size - r.Object.At.Offset
	f, err := readPitot(result.Source{Name: r.Source.Name, Data: io.NewSectionReader(r.Source.Data, r.Object.At.Offset, from), Size: from})
	if err != nil {
		r.Problem(fmt.Errorf("it is an export of Pitot's: %w", err))
		return
	}
	r.Keep(f)
}

// readPitot reads what `pitot runs export -f json` writes: a run as it was, with its
// own id, and its records one by one.
func readPitot(s result.Source) (result.Found, error) {
	f := result.Found{Run: trace.Run{End: trace.Never}}
	err := member(s, "run", func(d *json.Decoder) error { return d.Decode(&f.Run) })
	if err == nil && f.Run.ID == "" {
		err = errors.New("its run has no id")
	}
	f.Records = func(yield func(*trace.Record, error) bool) {
		err := member(s, "records", func(d *json.Decoder) error { return yieldRecords(d, yield) })
		if err != nil {
			yield(nil, err)
		}
	}
	return f, err
}

// yieldRecords reads a list of records, until nobody wants another.
func yieldRecords(d *json.Decoder, yield func(*trace.Record, error) bool) error {
	if err := expect(d, json.Delim('[')); err != nil {
		return err
	}
	for d.More() {
		r := trace.NewRecord(0)
		if err := d.Decode(r); err != nil {
			return err
		}
		if !yield(r, nil) {
			return nil
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
