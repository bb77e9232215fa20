package torture

import (
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

var (
	made   sync.Mutex
	runsOf []byte // the store of three, once it is made
)

// three returns a store with three runs, the same for all.
func three(t *testing.T) *place {
	t.Helper()
	made.Lock()
	defer made.Unlock()
	p := newPlace(t)
	if runsOf != nil {
		p.write(t, "store/runs.db", string(runsOf))
		return p
	}
	for i, name := range []string{"good", "bad", "other"} {
		if o := p.run(t, "sim", "-q", "-n", "20", "--rate", "1000", "--output-len", "4", "--seed", fmt.Sprint(i), "--name", name); !o.check(t, 0, 3) {
			t.FailNow()
		}
	}
	runsOf = []byte(read(t, p.store))
	return p
}

// change changes a store past the program.
func change(t *testing.T, store, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

const ofBad = " WHERE run_id = (SELECT id FROM run WHERE name = 'bad')"

// row adds a record of version 13 to the bad run: when it was sent and done, its class and its error, and its chunks.
func row(values, chunks string) string {
	return `INSERT INTO record (run_id, idx, seq, request_id, prompt_tokens, want_tokens, status, finish_reason, usage_prompt, usage_completion,
		usage_cached, usage_reasoning, counted_from, redials, text, output_tokens, sent_ns, done_ns, class, error, chunks)
		SELECT id, 100, 0, '', 0, 0, 200, '', 0, 0, 0, 0, '', 0, '', -5, ` + values + ", " + chunks + " FROM run WHERE name = 'bad'"
}

// block replaces the records of the bad run by one, in a block that is whole.
func block(change func(*trace.Record)) string {
	r := trace.NewRecord(7)
	change(r)
	b := new(trace.Packer).Block([]*trace.Record{r})
	return fmt.Sprintf("UPDATE block SET records = 1, low = 7, high = 7, heads = x'%x', chunks = x'%x', texts = x''", b.Heads, b.Chunks) + ofBad
}

// Damage to one run leaves the others: they are listed, shown, reported and exported, and
// what is damaged can be removed.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"body-not-json":     "UPDATE run_body SET body = '{\"plan\":'" + ofBad,
		"body-empty":        "UPDATE run_body SET body = ''" + ofBad,
		"body-deep":         "UPDATE run_body SET body = replace(hex(zeroblob(500000)), '0', '[')" + ofBad,
		"body-wrong-kinds":  "UPDATE run_body SET body = '{\"plan\":5,\"id\":[]}'" + ofBad,
		"body-escapes":      "UPDATE run_body SET body = char(27) || '[2J'" + ofBad,
		"body-not-utf8":     "UPDATE run_body SET body = CAST(x'7bff00fe' AS TEXT)" + ofBad,
		"body-gone":         "DELETE FROM run_body" + ofBad,
		"records-gone":      "DELETE FROM block" + ofBad,
		"records-more":      "UPDATE block SET records = 9223372036854775807" + ofBad,
		"records-fewer":     "UPDATE block SET records = 3" + ofBad,
		"records-elsewhere": "UPDATE block SET low = -9223372036854775808, high = 9223372036854775807, seq = -5" + ofBad,
		"heads-garbage":     "UPDATE block SET heads = randomblob(length(heads))" + ofBad,
		"heads-of-others":   "UPDATE block SET heads = (SELECT heads FROM block WHERE run_id = (SELECT id FROM run WHERE name = 'good'))" + ofBad,
		"chunks-short":      "UPDATE block SET chunks = substr(chunks, 1, length(chunks) / 2)" + ofBad,
		"chunks-gone":       "UPDATE block SET chunks = x''" + ofBad,
		"line-gone":         "DELETE FROM run WHERE name = 'bad'",
		"snapshot-gone":     "DELETE FROM snapshot" + ofBad,
		"chunks-garbage":    row("0, 0, '', ''", "randomblob(100)"),
		"chunks-huge":       row("0, 0, '', ''", "x'ffffffffffffffff7fffffffffffffffff7f'"),
		"record-escapes":    row("0, 0, char(27) || '[2J', char(155) || 'x'", "x''"),
		"record-impossible": row("9223372036854775807, -9223372036854775807, '', ''", "x''"),
		"block-escapes":     block(func(r *trace.Record) { r.Class, r.Error, r.FinishReason = "\x1b[2J", "\x9bx", "\a" }),
		"block-impossible": block(func(r *trace.Record) {
			r.OutputTokens, r.Sent, r.Done, r.Chunks = -5, math.MaxInt64, math.MinInt64, []trace.Chunk{{At: math.MinInt64}, {At: math.MaxInt64}}
		}),
		"run-escapes":  "UPDATE run SET model = char(27) || '[2J', workload = '\"' || char(155) || '\"' WHERE name = 'bad'",
		"run-not-json": "UPDATE run SET workload = '{', arrival = '[' WHERE name = 'bad'",
	} {
		t.Run(name, func(t *testing.T) {
			if !*long && !strings.HasSuffix(name, "escapes") && !strings.HasSuffix(name, "deep") && !strings.HasSuffix(name, "huge") && !strings.HasPrefix(name, "records") && !strings.HasPrefix(name, "block") {
				t.Skip("in the long form only: make torture")
			}
			t.Parallel()
			p := three(t)
			change(t, p.store, statement)
			wants := []int{1}
			if strings.HasPrefix(name, "run-") || name == "snapshot-gone" { // lists alone have it, and a simulation none
				wants = nil
			}
			o := p.run(t, "runs", "check")
			report(t, t.Name(), o, o.faults(wants))
			p.others(t)
		})
	}
}

// others holds every command to what it has to do beside a damaged run.
func (p *place) others(t *testing.T) {
	t.Helper()
	for _, args := range []string{"runs show bad", "runs report bad", "runs export bad -f jsonl", "compare good bad"} {
		o := p.run(t, strings.Fields(args)...)
		report(t, t.Name(), o, o.faults(nil))
	}
	all := []string{"runs show good", "runs report good", "runs list", "runs export good -f jsonl", "compare good other", "runs list --figure ttft.mean", "runs repair", "runs rm bad", "runs list"}
	for _, args := range all[either(2, 0):] {
		o := p.run(t, strings.Fields(args)...)
		faults := o.faults([]int{0, 3, 4})
		if args == "runs list" && !strings.Contains(o.out, "good") {
			faults = append(faults, "the good run is not listed")
		}
		report(t, t.Name(), o, faults)
	}
}

// A page of the file that is damaged ends no command with a trace.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	whole := three(t)
	b := []byte(read(t, whole.store))
	pages := len(b) / 4096
	for page := range pages {
		if !*long && page%8 != 0 {
			continue
		}
		t.Run(fmt.Sprint(page), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			bad := append([]byte(nil), b...)
			copy(bad[page*4096+16:(page+1)*4096], noise(4080))
			if err := os.WriteFile(p.store, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range []string{"runs list", "runs show good", "runs report good", "runs export good -f jsonl", "sim -q -n 2"} {
				o := p.run(t, strings.Fields(args)...)
				report(t, t.Name(), o, o.faults(nil))
			}
		})
	}
	for _, size := range []int{1, 100, 4096, 5000, len(b) / 2, len(b) - 1} {
		t.Run(fmt.Sprintf("cut-at-%d", size), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if err := os.WriteFile(p.store, b[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range []string{"runs list", "sim -q -n 2"} {
				o := p.run(t, strings.Fields(args)...)
				report(t, t.Name(), o, o.faults(nil))
			}
		})
	}
}

// A store that cannot be written is listed, and found before anything is sent.
func TestReadOnlyStore(t *testing.T) {
	t.Parallel()
	p := three(t)
	nobody := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // whom no mode of a file stops
		nobody.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for dir := p.dir; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755)
	}
	_ = os.Chmod(filepath.Dir(p.store), 0o555)
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(p.store), 0o755) })
	files, _ := filepath.Glob(p.store + "*")
	for _, file := range files {
		_ = os.Chmod(file, 0o444)
	}
	for _, args := range []string{"runs list", "runs show good", "runs report good"} {
		o := p.start(t, child{args: strings.Fields(args), attr: nobody}).wait()
		report(t, t.Name(), o, o.faults([]int{0}))
	}
	g := play(t, phase{nth: -1})
	o := p.start(t, child{args: g.bench(5), attr: nobody}).wait()
	faults := o.faults([]int{1, 2})
	if g.sent() {
		faults = append(faults, "requests were sent before the store was found to be read-only")
	}
	report(t, t.Name(), o, faults)
}

// Where there is no folder for the user's data, no file of somebody else's is used.
func TestNoHome(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"link", "file", "nothing"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = []string{"PITOT_STORE=", "HOME=/nonexistent", "XDG_DATA_HOME=/dev/null/none"}
			victim := p.write(t, "victim", "precious\n")
			trap := filepath.Join(p.path("tmp"), fmt.Sprintf("pitot-%d.db", os.Getuid()))
			switch way {
			case "link":
				if err := os.Symlink(victim, trap); err != nil {
					t.Fatal(err)
				}
			case "file":
				if err := os.WriteFile(trap, nil, 0o666); err != nil {
					t.Fatal(err)
				}
				_ = os.Chmod(trap, 0o666)
			}
			o := p.run(t, "sim", "-q", "-n", "2")
			faults := o.faults([]int{1, 2})
			if read(t, victim) != "precious\n" {
				faults = append(faults, "a file was written through a link")
			}
			if info, err := os.Stat(trap); err == nil && way == "file" && info.Size() > 0 {
				faults = append(faults, "a file that all may write was taken for the store")
			}
			report(t, t.Name(), o, faults)
		})
	}
}

// A store is for its owner alone; an export is as the umask says.
func TestModes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.start(t, child{args: []string{"sim", "-q", "-n", "2"}, before: "umask 022;"}).wait()
	faults := o.faults([]int{0, 3})
	if info, err := os.Stat(p.store); err != nil || info.Mode().Perm() != 0o600 {
		faults = append(faults, fmt.Sprintf("the store has mode %v", info.Mode()))
	}
	report(t, t.Name(), o, faults)
	o = p.start(t, child{args: []string{"runs", "export", "-o", p.path("export.json")}, before: "umask 022;"}).wait()
	faults = o.faults([]int{0})
	if info, err := os.Stat(p.path("export.json")); err != nil || info.Mode().Perm() != 0o644 {
		faults = append(faults, "the export has not the mode of the umask")
	}
	report(t, t.Name(), o, faults)
}
