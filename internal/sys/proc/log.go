package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// logBounds are the sizes of a stored log, in bytes. One of up to most is stored as it was written,
// of a longer one the beginning and the end:
//
//	  from     begin                                 end
//	┌──────┬───────────┬───────────────────────────┬──────────┐
//	│ old  │           │ ... N bytes left out ...  │          │ <── processes append
//	└──────┴───────────┴───────────────────────────┴──────────┘
type logBounds struct{ most, begin, end int64 }

var usualBounds = logBounds{most: 64 << 20, begin: 8 << 20, end: 8 << 20}

// lookEvery is how often the size of a log is looked at, and lookSoon how soon after it was shortened: a process
// that writes 64 MiB so quickly goes on with it.
const (
	lookEvery = 100 * time.Millisecond
	lookSoon  = 10 * time.Millisecond
)

// A Log is a file that processes append their output to, and that this process keeps short for as
// long as it lives, and its logTrimmer afterwards. The processes have the file itself and no pipe, so
// they go on writing when this process has died. A line appended in the moment in which a log is
// shortened is lost.
type Log struct {
	name string   // as the system names it
	out  *os.File // for the processes; appends
	file *os.File // the same file, to move bytes in it
	from int64    // its size before
	logBounds

	mu    sync.Mutex
	last  int64  // size when it was last looked at
	mark  int64  // size of the line in place of the part left out; 0: none
	left  int64  // bytes that were left out
	moved []byte // a buffer for the line and the end

	stop, stopped chan struct{}
	trimmer       *logTrimmer // nil: there is none
}

// OpenLog opens a file, which is created if necessary, and keeps it short until it is closed.
// Only its owner can read a new one.
func OpenLog(name string) (*Log, error) {
	l, err := openLog(name, usualBounds)
	if err == nil {
		go l.trim()
	}
	return l, err
}

func openLog(name string, bounds logBounds) (*Log, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(real, filepath.Base(name))
	}
	l := &Log{name: name, logBounds: bounds, stop: make(chan struct{}), stopped: make(chan struct{})}
	if l.out, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return nil, errors.Join(err, l.out.Close())
	}
	info, err := l.file.Stat()
	if there, failed := l.out.Stat(); err == nil &&
		(failed != nil || !info.Mode().IsRegular() || !os.SameFile(info, there)) {
		err = fmt.Errorf("%s is no file to write a log to", name)
	}
	if err != nil {
		return nil, errors.Join(err, l.out.Close(), l.file.Close())
	}
	l.from = info.Size()
	return l, nil
}

// newLog is OpenLog for a file that is to have nothing else in it.
func newLog(name string) (*Log, error) {
	f, err := os.Create(name)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	return OpenLog(name)
}

// Close shortens the log for the last time. Lines appended afterwards stay.
func (l *Log) Close() {
	select {
	case <-l.stop:
		return
	default:
	}
	close(l.stop)
	<-l.stopped
	if l.trimmer != nil {
		l.trimmer.end()
	}
	l.shorten()
	_, _ = l.out.Close(), l.file.Close() // nothing is buffered
}

func (l *Log) trim() {
	defer close(l.stopped)
	wait := time.NewTimer(lookEvery)
	defer wait.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-wait.C:
		}
		if l.shorten() {
			wait.Reset(lookSoon)
		} else {
			wait.Reset(lookEvery)
		}
	}
}

// size is that of the file, in the end the one at Close.
func (l *Log) size() int64 {
	if info, err := l.file.Stat(); err == nil {
		l.last = info.Size()
	}
	return l.last
}

// shorten leaves out the middle of a log that is too long, and reports whether it was.
func (l *Log) shorten() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := l.size()
	if size < l.from+l.begin { // a process has emptied it
		l.mark = 0
	}
	if size-l.from <= l.most {
		return false
	}
	l.cut(size)
	return true
}

// cut moves the end of the file to behind its beginning, and truncates the rest. It does so in few system calls:
// each waits for its turn among the writes of the processes. Errors of moving are not heeded: on a disk that fails,
// the end of a log is not worth the space it takes.
func (l *Log) cut(size int64) {
	at := l.from + l.begin
	left := l.left - at - l.mark - l.hole(at)
	const rounds = 2 // bytes appended meanwhile are moved too, unless there is no end of them
	for range rounds {
		l.left = left + size - l.end
		l.moved = fmt.Appendf(l.moved[:0], "\n... %d bytes left out ...\n", l.left)
		l.mark = int64(len(l.moved))
		l.moved = slices.Grow(l.moved, int(l.end))[:l.mark+l.end]
		_, _ = l.file.ReadAt(l.moved[l.mark:], size-l.end)
		_, _ = l.file.WriteAt(l.moved, at)
		if next := l.size(); next > size {
			size = next
			continue
		}
		break
	}
	if err := l.file.Truncate(at + l.mark + l.end); err == nil {
		l.last = at + l.mark + l.end
	}
}

// hole is the size of the first hole of the file behind an offset. A process that does not append
// makes one, as it goes on at its own offset in a file that was shortened.
func (l *Log) hole(from int64) int64 {
	begin, err := l.file.Seek(from, unix.SEEK_HOLE)
	if err != nil {
		return 0
	}
	end, err := l.file.Seek(begin, unix.SEEK_DATA)
	if err != nil { // there is none but the end of the file
		return 0
	}
	return end - begin
}

// Written is how many bytes processes have written, and how many of them were left out.
func (l *Log) Written() (all, left int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.size()-l.from) - l.mark + l.left, l.left
}

// tailBytes and lineBytes bound the displayed part of a log.
const (
	tailBytes = 64 << 10
	lineBytes = 500
)

// Last returns the last non-blank lines, at most n, each cut at 500 bytes; nil if there are none.
func (l *Log) Last(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return lastLines(l.name, l.from, n)
}

// LastLines returns the last non-blank lines of a file, at most five, each cut at 500 bytes; nil if
// there are none.
func LastLines(file string) []string { return lastLines(file, 0, 5) }

func lastLines(name string, from int64, n int) []string {
	f, err := files.OpenRegular(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size <= from {
		return nil
	}
	start := max(from, size-tailBytes)
	b := make([]byte, size-start)
	if _, err := f.ReadAt(b, start); err != nil {
		return nil
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(string(b), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "")); line != "" {
			lines = append(lines, strings.ToValidUTF8(line[:min(len(line), lineBytes)], ""))
		}
	}
	return lines[max(0, len(lines)-n):]
}

// LineAfter finds the first line that begins with a text, and returns the rest of it. It looks
// through no more than 1 MiB.
func (l *Log) LineAfter(begin string) (rest string, ok bool) {
	f, err := files.OpenRegular(l.name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	const most = 1 << 20
	b, _ := io.ReadAll(io.NewSectionReader(f, l.from, most)) // an error: not there yet
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, begin); ok && strings.HasSuffix(line, "\n") {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}
