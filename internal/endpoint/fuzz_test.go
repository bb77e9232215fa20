package endpoint

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/transport"
)

// canned answers every request with itself.
type canned string

func (c canned) Do(_ context.Context, _ *transport.Request, r transport.Receiver) (transport.Timing, error) {
	r.Head(http.StatusOK, nil)
	return transport.Timing{}, r.Data([]byte(c), transport.Stamp{Seq: 1})
}

// What scan takes for an event of the usual form, decode reads alike.
func FuzzScan(f *testing.F) {
	for _, seed := range events {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, event string) {
		for _, p := range []Protocol{Completions, Chat} {
			var got delta
			if !scan(&got, p, true, []byte(event)) {
				continue
			}
			want, err := decode(p, false, []byte(event))
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(delta{})); err != nil || diff != "" {
				t.Errorf("%s %s: error %v\n%s", p, event, err, diff)
			}
		}
	})
}

func FuzzMetrics(f *testing.F) {
	f.Add("# HELP vllm:x Text.\n# TYPE vllm:x counter\nvllm:x{engine=\"0\",reason=\"a\\\"b\\n\"} 1e+06\n")
	f.Add("# TYPE h histogram\nh_bucket{le=\"+Inf\"} 3.0\nh_sum 1.5\nh_count 3\n")
	f.Add("up 1 1700000000000\nup{a=\"b\",} NaN\nx_total -Inf\n")
	f.Add("# TYPE s summary\ns{quantile=\"0.5\"} 1\n")
	f.Add("x{")
	f.Fuzz(func(t *testing.T, text string) {
		samples, err := Server{Transport: canned(text)}.Metrics(t.Context())
		if err != nil {
			return
		}
		for _, s := range samples {
			if s.Name == "" || !strings.Contains(text, s.Name) || !strings.HasPrefix(s.Series(), s.Name) {
				t.Errorf("%q gives %+v, %s", text, s, s.Series())
			}
		}
	})
}
