package ingest

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A pattern is a file of texts, each repeated, that takes no memory.
type pattern []repeated

type repeated struct {
	text  string
	times int
}

func (p pattern) size() (n int64) {
	for _, r := range p {
		n += int64(len(r.text)) * int64(r.times)
	}
	return n
}

// ReadAt makes the bytes.
func (p pattern) ReadAt(b []byte, offset int64) (n int, err error) {
	for _, r := range p {
		length := int64(len(r.text)) * int64(r.times)
		for offset < length && n < len(b) {
			k := copy(b[n:], r.text[offset%int64(len(r.text)):])
			k = int(min(int64(k), length-offset))
			n, offset = n+k, offset+int64(k)
		}
		offset -= length
		offset = max(offset, 0)
		if n == len(b) {
			return n, nil
		}
	}
	return n, io.EOF
}

// large is a detailed result of n requests with 256 gaps each, 5.8 kB a request.
func large(n int) result.Source {
	column := func(name, item string) pattern {
		return pattern{{fmt.Sprintf("%q: [", name), 1}, {item + ", ", n - 1}, {item + "], ", 1}}
	}
	gaps := "[" + strings.TrimSuffix(strings.Repeat("0.010323599999537691, ", 256), ", ") + "]"
	p := pattern{{fmt.Sprintf(`{"date": "20261121-172808", "backend": "openai", "model_id": "m", "request_rate": "inf", "duration": 3.5, "completed": %d, "failed": 0, "total_input_tokens": %d, `, n, 32*n), 1}}
	for _, c := range []pattern{
		column("input_lens", "32"), column("output_lens", "257"), column("ttfts", "0.053070967998792185"), column("itls", gaps),
		column("latencies", "2.6959125678801"), column("start_times", "32321.769681115"), column("queue_times", "0.000146548"),
		column("generated_texts", `"one two three \u4e09"`), column("errors", `""`),
	} {
		p = append(p, c...)
	}
	p = append(p, repeated{`"max_concurrent_requests": 7, "mean_ttft_ms": 53.07}`, 1})
	return result.Source{Name: "large.json", Data: p, Size: p.size()}
}

// A result needs the same memory whether it has a thousand requests or ten times
// as many: that of its windows, and of one request.
func TestLargeResultsTakeLittleMemory(t *testing.T) {
	const n = 5000
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	s := large(n)
	before := live()
	found, problems := result.Read(s, known.formats...)
	if len(found) != 1 || len(problems) > 0 {
		t.Fatalf("%d results, %v", len(found), problems)
	}
	check := func(when string) {
		if now := live(); now > before+4<<20 {
			t.Errorf("%s there are %d MiB more than before", when, (now-before)>>20)
		}
	}
	check("after reading")
	i := 0
	for r, err := range found[0].Records {
		if err != nil {
			t.Fatal(err)
		}
		if i%1000 == 999 {
			check(fmt.Sprintf("at record %d", i))
		}
		if r.Index != i || len(r.Chunks) != 257 {
			t.Fatalf("record %d is %d, with %d chunks", i, r.Index, len(r.Chunks))
		}
		i++
	}
	if i != n {
		t.Errorf("%d records", i)
	}
	runtime.KeepAlive(found)
}

// GuideLLM writes every request into its result, which is not kept.
func TestLargeResultsOfGuideLLM(t *testing.T) {
	request := `{"request_id": "r", "prompt": "` + strings.Repeat("word ", 200) + `", "times": [1, 2, 3]}`
	p := pattern{
		{`{"benchmarks": [{"metrics": {"request_totals": {"successful": 30000}}, "requests": {"successful": [`, 1},
		{request + ", ", 30000},
		{request + `]}, "duration": 2.5}]}`, 1},
	}
	found, problems := result.Read(result.Source{Name: "a.json", Data: p, Size: p.size()}, known.formats...)
	if len(found) != 1 || len(problems) > 0 || found[0].Run.End != 25e8 {
		t.Errorf("%d results, %v", len(found), problems)
	}
}

// BenchmarkImport reads a detailed result of 200 MB and each of its records. The
// peak is that of the process, where Linux tells it.
func BenchmarkImport(b *testing.B) {
	s := large(200_000_000 / 5800)
	b.SetBytes(s.Size)
	for b.Loop() {
		found, problems := result.Read(s, known.formats...)
		if len(problems) > 0 || found[0].Run.Origin.Detail != trace.Recorded {
			b.Fatal(problems)
		}
		for _, err := range found[0].Records {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/1e6, "heap-MB")
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		var kB float64
		if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
			if _, err := fmt.Sscan(rest, &kB); err == nil {
				b.ReportMetric(kB/1e3, "peak-MB")
			}
		}
	}
}

// What is no result is not read without end: 100 000 objects, or 256 MiB.
func TestWhatIsNoResultIsBounded(t *testing.T) {
	large := `{"a": "` + strings.Repeat("x", 1<<20) + `"}`
	for _, tt := range []struct {
		of   repeated
		ends bool
	}{{repeated{"{} ", 100_000}, false}, {repeated{"{} ", 100_001}, true}, {repeated{large, 20}, false}, {repeated{large, 257}, true}} {
		p := pattern{tt.of}
		_, problems := result.Read(result.Source{Name: "a.json", Data: p, Size: p.size()}, known.formats...)
		ends := slices.ContainsFunc(problems, func(p result.Problem) bool { return strings.Contains(p.Reason, result.ErrBarren.Error()) })
		if ends != tt.ends {
			t.Errorf("%d of %.10q: %v", tt.of.times, tt.of.text, problems)
		}
	}
}
