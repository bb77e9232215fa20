package proc

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// A logTrimmer is a process that sleeps until this one has died, and then keeps a log short for as long as
// there is a process that may write to it.
type logTrimmer struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser // its input: a line ends it, an end without one is our death
}

// trimmerArgs is the last argument of a logTrimmer. Its descriptor 3 is the log.
type trimmerArgs struct {
	Tree Tree  `json:"tree"`
	From int64 `json:"from"`
}

const trimmerDescriptor = 3

// startTrimmer starts this program again, with arguments by which it calls TrimLog: its name, those
// that are given, and one that is made here.
func (l *Log) startTrimmer(args []string, t Tree) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(trimmerArgs{t, l.from})
	if err != nil {
		return err
	}
	cmd := exec.Command(program)
	cmd.Args, cmd.ExtraFiles = append(slices.Clone(args), string(text)), []*os.File{l.file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	held, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, held.Close())
	}
	l.trimmer = &logTrimmer{cmd, held}
	return nil
}

func (k *logTrimmer) end() {
	_, _ = io.WriteString(k.stdin, "end\n")
	_ = k.stdin.Close()
	_ = k.cmd.Wait() // how it ended changes nothing
}

// TrimLog runs in the process of a logTrimmer, with its last argument.
func TrimLog(args string) error {
	var k trimmerArgs
	if err := json.Unmarshal([]byte(args), &k); err != nil {
		return err
	}
	if line, _ := bufio.NewReader(os.Stdin).ReadString('\n'); line != "" {
		return nil
	}
	l := newLogOf(os.NewFile(trimmerDescriptor, k.Tree.Log), k.From, usualBounds)
	go l.trim()
	defer l.Close()
	const pause = 2 * time.Second // between two looks at all processes of the machine
	for {
		members, err := k.Tree.Members()
		if err != nil || len(members) == 0 {
			return err
		}
		time.Sleep(pause)
	}
}

// newLogOf takes over a log that another process has trimmed so far.
func newLogOf(file *os.File, from int64, bounds logBounds) *Log {
	l := &Log{
		name: file.Name(), file: file, from: from, logBounds: bounds, stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	line := make([]byte, 100)
	n, _ := file.ReadAt(line, from+l.begin) // a short log has none
	if found := markForm.FindSubmatch(line[:n]); found != nil {
		l.mark = int64(len(found[0]))
		l.left, _ = strconv.ParseInt(string(found[1]), 10, 64)
	}
	return l
}

// markForm is the line in place of the part left out.
var markForm = regexp.MustCompile(`^\n\.\.\. (\d+) bytes left out \.\.\.\n`)
