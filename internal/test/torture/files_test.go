package torture

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// An input is a file that the program reads, and a command that reads it. FILE stands
// for its path.
type input struct {
	name, as string
	args     string
}

// inputs are the files that come from outside.
var inputs = []input{
	{"settings", "settings.yaml", "sim -q -n 2 --config FILE"},
	{"plan", "plan.yaml", "plan FILE"},
	{"profile", "profile.yaml", "sim -q -n 2 --profile FILE"},
	{"profile-shown", "profile.yaml", "profiles show FILE"},
	{"sharegpt", "data.json", "plan -- bench --workload sharegpt -n 2 --data FILE"},
	{"custom", "data.jsonl", "plan -- bench --workload custom -n 2 -c 1 --data FILE"},
	{"trace", "data.csv", "plan -- bench --workload trace --data FILE"},
	{"mooncake", "data.jsonl", "plan -- bench --workload trace --trace-format mooncake --data FILE"},
	{"conversations", "data.jsonl", "plan -- bench --workload conversations --protocol chat --data FILE"},
	{"lengths", "lengths.csv", "plan -- bench -n 2 --lengths FILE"},
	{"replay", "times.txt", "plan -- bench -n 2 --replay FILE"},
	{"ca", "ca.pem", "bench -q -n 1 --url https://127.0.0.1:1 --model m --tokenizer none --ready-timeout 0 --ca FILE"},
	{"key", "key", "bench -q -n 1 --url http://127.0.0.1:1 --model m --tokenizer none --ready-timeout 0 --api-key-file FILE"},
	{"tokenizer", "tokenizer/tokenizer.json", "plan -- bench -n 2 --url http://127.0.0.1:1 --model m --tokenizer FILE"},
	{"tiktoken", "x.tiktoken", "plan -- bench -n 2 --url http://127.0.0.1:1 --model m --tokenizer FILE"},
	{"template", "tokenizer/chat_template.jinja", "plan -- vllm bench serve --dataset-name custom --dataset-path p.jsonl --model m --num-prompts 1 --tokenizer tokenizer"},
	{"template-settings", "tokenizer/tokenizer_config.json", "plan -- vllm bench serve --dataset-name custom --dataset-path p.jsonl --model m --num-prompts 1 --tokenizer tokenizer"},
	{"vllm-data", "data.json", "plan -- vllm bench serve --dataset-name sharegpt --dataset-path FILE --model m --num-prompts 1 --tokenizer tokenizer"},
	{"vllm-parquet", "data.parquet", "plan -- vllm bench serve --dataset-name custom --dataset-path FILE --model m --num-prompts 1 --tokenizer tokenizer"},
	{"vllm-settings", "settings.yaml", "vllm bench serve --config FILE"},
	{"vllm-lines", "data.jsonl", "plan -- vllm bench serve --dataset-name custom --dataset-path FILE --model m --num-prompts 1 --tokenizer tokenizer"},
	{"vllm-table", "data.csv", "plan -- vllm bench serve --dataset-name burstgpt --dataset-path FILE --model m --num-prompts 1 --tokenizer tokenizer"},
	{"vllm-poem", "poem.txt", "plan -- vllm bench serve --dataset-name sonnet --dataset-path FILE --model m --num-prompts 1 --tokenizer tokenizer"},
	{"sglang-data", "data.json", "plan -- sglang bench_serving --backend sglang --dataset-name sharegpt --dataset-path FILE --model m --num-prompts 1 --tokenizer tokenizer"},
	{"result", "result.json", "import FILE"},
	{"results", "result.jsonl", "import FILE"},
	{"note", "note.md", "import FILE"},
	{"marked", "note.md", "compare -f html FILE"},
	{"folder", "folder/result.json", "import folder"},
	{"compared", "result.json", "compare FILE FILE"},
	{"conform", "conform.json", "conform report FILE"},
	{"grid", "grid.yaml", "conform run --grid FILE -- true"},
	{"store", "runs.db", "runs list --store FILE"},
	{"store-written", "runs.db", "sim -q -n 2 --store FILE"},
}

// file is where the file of an input stands in a place.
func (in input) file() string { return in.as }

// read runs the command of an input, whose file is written.
func (in input) read(t *testing.T, p *place) {
	t.Helper()
	if _, err := os.Stat(p.path("p.jsonl")); err != nil {
		p.write(t, "p.jsonl", `{"prompt":"`+strings.Repeat("a", 2000)+`"}`+"\n")
	}
	if json := p.path("tokenizer/tokenizer.json"); in.as != "tokenizer/tokenizer.json" {
		if _, err := os.Stat(json); err != nil {
			p.write(t, "tokenizer/tokenizer.json", tokenizer(t))
		}
	}
	args := strings.Fields(strings.ReplaceAll(in.args, "FILE", p.path(in.as)))
	o := p.start(t, child{args: args, wall: 15 * time.Second}).wait()
	report(t, t.Name(), o, append(o.faults(nil), p.leaks(p.path(in.as))...))
}

// tokenizer is a good tokenizer.json.
func tokenizer(t *testing.T) string {
	t.Helper()
	return read(t, filepath.Join("..", "..", "load", "tokenizer", "testdata", "gpt2", "tokenizer.json"))
}

// A content is what stands in a file that means ill.
type content struct {
	name string
	make func(t *testing.T, file string)
}

func literal(name, s string) content {
	return content{name, func(t *testing.T, file string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}}
}

// contentsOfFiles is made once, like the answers.
var contentsOfFiles = sync.OnceValue(func() []content {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	linked := func(to string) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			if err := os.Symlink(to, file); err != nil {
				t.Fatal(err)
			}
		}
	}
	return []content{
		literal("empty", ""),
		literal("noise", noise(1<<20)),
		literal("null-bytes", strings.Repeat("\x00", 1<<20)),
		literal("escapes", escape+"\n"+escape),
		literal("escapes-json", `[{"prompt":"\u001b[2J","conversations":[{"from":"`+escape+`","value":5}],"`+escape+`":1}]`),
		literal("escapes-yaml", "\"\\e[2J\\x9b\": \"\\e]0;x\\a\"\nrate: \"\\e[2J\"\n"),
		literal("not-utf8", "\xff\xfe\xc0\x80: [\xed\xa0\x80"),
		literal("laughs", laughs),
		literal("alias-to-itself", "a: &a [*a]\nb: &b\n  c: *b\n"),
		literal("merge-to-itself", "a: &a\n  <<: *a\n"),
		literal("number-long", `[{"prompt":`+strings.Repeat("9", 1<<20)+`}]`),
		literal("numbers-wild", "1e999,-1e999,NaN\n-1,1e-999,99999999999999999999\n"),
		literal("string-open", `[{"prompt":"`+strings.Repeat("x", 4<<20)),
		literal("columns", strings.Repeat("a,", 1<<20)+"\n"),
		literal("lines", strings.Repeat("\n", 4<<20)),
		literal("rows", strings.Repeat("{}\n", 1<<20)),
		literal("parquet-not", "PAR1"+noise(4096)+"\xff\xff\xff\x7fPAR1"),
		literal("sqlite-not", "SQLite format 3\x00"+noise(8192-16)),
		literal("gzip", zipped(64<<20)),
		literal("tables", strings.Repeat("============ Serving Benchmark Result ============\nSuccessful requests: 1e999\nMean TTFT (ms): -1\n==================================================\n", 2000)),
		literal("table-hostile", "# "+escape+"<script>alert(1)</script>\u202e\x00\n"+strings.Repeat("x"+escape, 1<<16)+"\n============ Serving Benchmark Result ============\n"+
			"Successful requests: 9\nMean TTFT (ms): 5.25"+escape+"\nP99 TTFT (ms): 7.50\n==================================================\n"+strings.Repeat("INFO a line\n", 100_000)),
		literal("objects-many", `[`+strings.Repeat(`{"conversations":[]},`, 300_000)+`{}]`),
		{"zeros-without-end", linked("/dev/zero")},
		{"nothing", linked("/dev/null")},
		{"pipe", func(t *testing.T, file string) { // without a writer
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"socket", func(t *testing.T, file string) {
			at, err := os.MkdirTemp("", "s") // a name of a socket is short
			if err != nil {
				t.Fatal(err)
			}
			listener, err := net.Listen("unix", filepath.Join(at, "s"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = listener.Close(), os.RemoveAll(at) })
			linked(filepath.Join(at, "s"))(t, file)
		}},
		{"to-itself", func(t *testing.T, file string) { linked(filepath.Base(file))(t, file) }},
		{"folder", func(t *testing.T, file string) {
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"terabyte", func(t *testing.T, file string) { // sparse
			literal("", "").make(t, file)
			if err := os.Truncate(file, 1<<40); err != nil {
				t.Skip(err)
			}
		}},
	}
})

// Every input with every content; in the short form a part of them, each input and each
// content several times, and a pipe for each.
func TestFiles(t *testing.T) {
	t.Parallel()
	for i, in := range inputs {
		for j, c := range contentsOfFiles() {
			if !*long && (3*i+j)%17 != 0 && c.name != "pipe" {
				continue
			}
			t.Run(in.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				file := p.path(in.as)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				c.make(t, file)
				in.read(t, p)
			})
		}
	}
}
