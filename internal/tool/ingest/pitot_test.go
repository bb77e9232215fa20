package ingest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

const exported = `{"run": {
 "id": "abc", "name": "new", "kind": "measured", "status": "complete", "end_ns": 900, "plan": {"requests": 2, "model": "m"}
},
"records": [{"index":0,"sent_ns":1,"done_ns":9,"output_tokens":3},
{"index":1,"sent_ns":null,"done_ns":9,"class":"reset"}]}
`

func TestAnExportComesBack(t *testing.T) {
	f, err := readPitot(source("a.json", exported))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // records can be read again
		got, err := f.Trace()
		if err != nil {
			t.Fatal(err)
		}
		if got.Run.ID != "abc" || got.Run.End != 900 || len(got.Records) != 2 {
			t.Fatalf("%+v", got)
		}
		if r := got.Records[1]; r.Sent != trace.Never || r.Class != trace.Reset || r.FirstByte != trace.Never {
			t.Errorf("%+v", r)
		}
	}
}

func TestAnExportThatIsCutShort(t *testing.T) {
	f, err := readPitot(source("a.json", exported[:len(exported)-30]))
	if err == nil {
		_, err = f.Trace()
	}
	if err == nil || !strings.Contains(err.Error(), "records") {
		t.Errorf("error %v", err)
	}
}

func FuzzPitot(f *testing.F) {
	f.Add([]byte(exported))
	f.Fuzz(func(_ *testing.T, data []byte) {
		found, err := readPitot(result.Source{Name: "a.json", Data: bytes.NewReader(data), Size: int64(len(data))})
		if err == nil {
			_, _ = found.Trace()
		}
	})
}
