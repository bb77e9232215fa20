package ingest

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/tool/result"
)

const (
	title      = "============ Serving Benchmark Result ============\n"
	unfinished = title + "Successful requests:                     100\n"
)

// long are logs that say little at length, by what they repeat.
var long = []struct{ name, first, again string }{
	{"unfinished tables", "", unfinished},
	{"unfinished tables below headings", "# all\n", "## one\n" + unfinished},
	{"titles", "", title},
	{"headings", "", "# one\n\n## two\n"},
	{"bold claims", "", "**TTFT is 30% lower**\n"},
	{"claims", "", "TTFT is 30% lower than before.\n"},
	{"remarks", title, "P99 TTFT (ms):                         30 (-20%)\n"},
	{"unfinished code", "", "```\nfoo: bar\n"},
	{"quotations", "", "> > > > a\n"},
	{"an unfinished Namespace", "Namespace(a='", "x\n"},
	{"unfinished Namespaces", "", "Namespace(a=(\n)\n)\n"},
	{"unfinished commands", "", "vllm serve \\\n"},
	{"one line", "", "TTFT -30% "},
}

// What a kilobyte of a long log takes is the same for all of them, whatever their length.
func BenchmarkLongLogs(b *testing.B) {
	for _, l := range long {
		for _, size := range []int{100_000, 1_000_000} {
			text := l.first + strings.Repeat(l.again, size/len(l.again))
			b.Run(l.name+"/"+map[bool]string{true: "short", false: "long"}[size == 100_000], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					known.Read(source("a.log", text))
				}
			})
		}
	}
}

func TestLongLogsAreReadToALimit(t *testing.T) {
	found, problems := known.Read(source("a.log", strings.Repeat(title, 3*result.MaxProblems)))
	if len(found) != 0 || len(problems) > result.MaxProblems+2 {
		t.Fatalf("%d tables, %d problems", len(found), len(problems))
	}
	var text strings.Builder
	for _, p := range problems {
		text.WriteString(p.Error() + "\n")
	}
	for _, want := range []string{"the rest of the file is not read: too much of it was no result", "more problems are not listed"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("nothing says: %s", want)
		}
	}
	r := &textReader{closed: make([]*printed, mostTables)}
	if err := r.full(); err == nil || !strings.Contains(err.Error(), "more than 10000 tables") {
		t.Errorf("error %v", err)
	}
}

// A Namespace is parsed as often as it doubles, however many lines it is broken over.
func TestABrokenNamespaceIsParsedFewTimes(t *testing.T) {
	for _, line := range []string{"x", "(", ",b=[1,", "'", `\`} {
		var b broken
		parsed := 0
		for b.write("Namespace(a=" + line); !b.complete(); {
			if b.write(line) {
				parsed, b.parsed = parsed+1, b.Len()
			}
		}
		if most := bits.Len(uint(longestSetup)) + 1; parsed > most {
			t.Errorf("%q: parsed %d times, at most %d", line, parsed, most)
		}
	}
}

// What ends a Namespace is its own bracket, and none in a text or of a value.
func TestABrokenNamespaceEndsWithItsBracket(t *testing.T) {
	text := strings.ReplaceAll(`Namespace(a='it\'s )', b=(1,| 2), c="|)", d=[(|)],| num_prompts=7)|`+"\n", "|", "\n")
	r := &textReader{Reader: known}
	for n, l := range strings.SplitAfter(text, "\n") {
		r.take(line{n: n + 1, text: strings.TrimSuffix(l, "\n")})
	}
	if got := r.around.settings; got["num_prompts"] != "7" || got["a"] != "it's )" || len(r.problems) > 0 {
		t.Errorf("%v, %v", got, r.problems)
	}
}

// A table of many results costs their number, and of too many the first are read.
func TestManyResultsOfOneTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| n |")
	for i := range 60 {
		fmt.Fprintf(&b, " v%d TTFT (ms) |", i)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", 60) + "\n")
	for n := range 1000 {
		fmt.Fprintf(&b, "| %d |%s\n", n, strings.Repeat(fmt.Sprintf(" %d.5 |", n), 60))
	}
	found, problems := known.Read(source("a.md", b.String()))
	if len(found) != mostTables || len(problems) == 0 || !strings.Contains(problems[0].Reason, "are read") {
		t.Errorf("%d found, %.3v", len(found), problems)
	}
}
