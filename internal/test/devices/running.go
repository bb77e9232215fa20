package devices

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Running is a program within this process, under the shell that a real one would have.
type Running struct {
	fake  Fake
	lines chan string
	stop  chan struct{}
	over  chan struct{}
	once  sync.Once
	code  int
}

// Start starts a program: a name and its arguments. The caller ends it.
func (f Fake) Start(args []string) *Running {
	r := &Running{fake: f, lines: make(chan string), stop: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(r.over)
		r.print("pitot-ready")
		r.code = f.play(args, r.print, r.stop)
	}()
	return r
}

func (r *Running) print(line string) bool {
	select {
	case r.lines <- line:
		return true
	case <-r.stop:
		return false
	}
}

// Line is the next line; io.EOF once the program has ended.
func (r *Running) Line() (line []byte, size int, err error) {
	select {
	case text := <-r.lines:
		line = []byte(strings.TrimRight(text, "\r"))
		return line[:min(len(line), 64<<10)], len(text) + 1, nil
	case <-r.over:
		return nil, 0, io.EOF
	}
}

// Send answers as the shell around a program does, in a goroutine of its own: nobody may be
// reading yet.
func (r *Running) Send(line string) error {
	words := strings.Fields(line)
	switch {
	case len(words) == 2 && words[0] == "clock":
		now := time.Now().Add(r.fake.Offset)
		go r.print(fmt.Sprintf("pitot-answer clock %s %d.%09d", words[1], now.Unix(), now.Nanosecond()))
	case len(words) > 2 && words[0] == "ask":
		var out strings.Builder
		if words[2] == "eval" { // the first of several commands
			one, _, _ := strings.Cut(strings.Join(words[3:], " "), ";")
			words = append(words[:2], strings.Fields(one)...)
		}
		r.fake.play(words[2:], func(line string) bool { out.WriteString(line + ";"); return true }, r.stop)
		go r.print("pitot-answer " + words[1] + " " + out.String())
	}
	return nil
}

// End ends the program.
func (r *Running) End() error {
	r.once.Do(func() { close(r.stop) })
	<-r.over
	if r.code != 0 {
		return errors.New("exit status " + fmt.Sprint(r.code) + ": lost the device")
	}
	return nil
}

// Ask is the output of a short command.
func (f Fake) Ask(args ...string) (string, error) {
	var out strings.Builder
	code := f.play(args, func(line string) bool { out.WriteString(line + "\n"); return true }, nil)
	if code != 0 {
		return out.String(), fmt.Errorf("exit status %d", code)
	}
	return out.String(), nil
}
