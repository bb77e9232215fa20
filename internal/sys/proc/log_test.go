package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// numbered are lines of 64 bytes, from one number to another.
func numbered(from, to int) []byte {
	var b bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%063d\n", i)
	}
	return b.Bytes()
}

// small bounds are 64, 8 and 8 KiB.
var small = logBounds{64 << 10, 8 << 10, 8 << 10}

// testLog is a log with something in it already, which is shortened when the test says so.
func testLog(t *testing.T, old string) *Log {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := openLog(name, small)
	if err != nil {
		t.Fatal(err)
	}
	close(l.stopped)
	return l
}

func appendTo(t *testing.T, l *Log, b []byte) {
	t.Helper()
	if _, err := l.out.Write(b); err != nil {
		t.Fatal(err)
	}
}

// The beginning and the end of a long log are stored, as they were written, and what was there
// before; how much is left out stands between them.
func TestALongLog(t *testing.T) {
	const old, each = "older\n", 16 // lines in 1 KiB
	l := testLog(t, old)
	appendTo(t, l, numbered(0, 64*each))
	l.shorten()
	if all, left := l.Written(); all != small.most || left != 0 {
		t.Fatalf("%d bytes, %d left out of a log that is not too long", all, left)
	}
	lines := 64 * each
	for range 3 { // each time it is too long again
		appendTo(t, l, numbered(lines, lines+60*each))
		lines += 60 * each
		l.shorten()
	}
	appendTo(t, l, []byte("the end\n"))
	l.Close()
	all, left := l.Written()
	if want := int64(lines*64 + len("the end\n")); all != want {
		t.Errorf("%d bytes, want %d", all, want)
	}
	text, err := os.ReadFile(l.name)
	if err != nil || len(text) > int(small.most)+len(old) {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	begin, end, found := bytes.Cut(text, fmt.Appendf(nil, "\n... %d bytes left out ...\n", left))
	if !found || !bytes.Equal(begin, append([]byte(old), numbered(0, 8*each)...)) {
		t.Fatalf("of %d bytes %d stand ahead of the line, which is there: %v", len(text), len(begin), found)
	}
	if n := (len(end) - len("the end\n")) / 64; n < 8*each ||
		!bytes.Equal(end, append(numbered(lines-n, lines), "the end\n"...)) {
		t.Errorf("the end is not that of what was written: %.70q, %d lines", end, n)
	}
	if int64(len(begin)-len(old)+len(end))+left != all {
		t.Errorf("%d and %d bytes kept, %d left out, of %d", len(begin), len(end), left, all)
	}
	if got := l.Last(2); len(got) != 2 || got[1] != "the end" {
		t.Errorf("%q", got)
	}
}

// A session floods its log over both streams: the log is short while it goes on, and its first and
// last words are kept.
func TestAFlood(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	over, open := pipe(t)
	turn, _ := pipe(t)
	const script = `echo first; head -c 150000000 /dev/zero | tr '\0' x; head -c 150000000 /dev/zero | tr '\0' y >&2; ` +
		`echo over >"$1"; read -r go <"$2"; echo; echo last words`
	s, err := StartSession(SessionCommand{Args: []string{"sh", "-c", script, "sh", over, turn}, Log: name})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Release(); err != nil {
		t.Fatal(err)
	}
	line(t, open())
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(name); err == nil && info.Size() <= usualBounds.most {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the log is not shortened: %v, %v", info, err)
		}
	}
	s.Output.Written() // which waits for writes in progress
	if err := os.WriteFile(turn, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	s.Output.Close()
	info, err := os.Stat(name)
	if err != nil || info.Size() > usualBounds.most {
		t.Errorf("%v, %v", info, err)
	}
	if rest, ok := s.Output.LineAfter("fir"); !ok || rest != "st" {
		t.Errorf("the first line: %q", rest)
	}
	if got := s.Output.Last(1); len(got) != 1 || got[0] != "last words" {
		t.Errorf("the last line: %.100q", got)
	}
	if all, left := s.Output.Written(); left < 200_000_000 || all > 300_000_018 {
		t.Errorf("%d bytes, %d left out", all, left)
	}
}

// What Start is given to write to is kept short too.
func TestAClientThatFloods(t *testing.T) {
	c := shell(t, `head -c 100000000 /dev/zero | tr '\0' x; head -c 100000000 /dev/zero | tr '\0' x >&2`)
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{c.Stdout, c.Stderr} {
		if info, err := os.Stat(name); err != nil || info.Size() > usualBounds.most {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// A process that has opened the file once more, such as by its name /dev/stdout, writes at an
// offset of its own. Holes that this makes are no bytes that it has written.
func TestAWriterThatDoesNotAppend(t *testing.T) {
	l := testLog(t, "")
	f, err := os.OpenFile(l.name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 100 << 14
	for range 100 {
		if _, err := f.Write(make([]byte, size/100)); err != nil {
			t.Fatal(err)
		}
		l.shorten()
	}
	l.Close()
	const slack = 100 * 4096 // of a block, each time
	if all, left := l.Written(); all < size-slack || all > size+slack || left == 0 {
		t.Errorf("%d bytes, %d left out, of %d", all, left, size)
	}
}

// Whatever takes the name of a log is not touched.
func TestALogThatIsReplaced(t *testing.T) {
	l := testLog(t, "")
	precious := filepath.Join(t.TempDir(), "precious")
	f, err := os.Create(precious)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(2 * small.most); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Remove(l.name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, l.name); err != nil {
		t.Fatal(err)
	}
	appendTo(t, l, make([]byte, small.most+1))
	l.Close()
	if info, err := os.Stat(precious); err != nil || info.Size() != 2*small.most {
		t.Errorf("%v, %v", info, err)
	}
	if all, left := l.Written(); all != small.most+1 || left == 0 {
		t.Errorf("%d bytes, %d left out", all, left)
	}
	if _, err := OpenLog(os.DevNull); err == nil {
		t.Error("a device is a log")
	}
}

// A process that goes on with a log that another one has kept short counts on.
func TestALogIsTakenOver(t *testing.T) {
	l := testLog(t, "older\n")
	appendTo(t, l, make([]byte, small.most+1))
	l.shorten()
	file, err := os.OpenFile(l.name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	next := newLogOf(file, l.from, small)
	close(next.stopped)
	if all, left := next.Written(); all != small.most+1 || left != small.most+1-small.begin-small.end {
		t.Errorf("%d bytes, %d left out", all, left)
	}
	appendTo(t, l, make([]byte, small.most))
	next.Close()
	if all, left := next.Written(); all != 2*small.most+1 || left != 2*small.most+1-small.begin-small.end {
		t.Errorf("%d bytes, %d left out", all, left)
	}
	l.Close()
}
