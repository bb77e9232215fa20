package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// A Stream is a process that prints lines for as long as they are read.
//
// Its input is a pipe that nothing but Send writes to. It stays open until End, or until this
// process dies in whatever way: a program that ends when its input does is never left behind.
type Stream struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	text   *bufio.Reader
	over   atomic.Bool // the output has ended
	stderr *tail
}

// StartStream starts a process in its own group. The caller reads its lines, and ends it.
func StartStream(args []string) (*Stream, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	kill := func(error) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	s := &Stream{cmd: cmd, stderr: &tail{most: stderrBytes, flood: kill}}
	cmd.Stderr = s.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, w, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer w.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	s.in, s.out, s.text = in, out, bufio.NewReaderSize(out, streamBytes)
	return s, nil
}

// streamBytes is the stored length of a line of a Stream, longestLine the length that is read for it.
const (
	streamBytes = 64 << 10
	longestLine = 16 << 20
)

// Line waits for the next line and returns it without its end, valid until the next call. Of a line beyond 64 KiB
// it returns the beginning; size counts all of it. A line beyond 16 MiB is returned as several, so that the caller
// notices one without end. The error is io.EOF when the output has ended.
func (s *Stream) Line() (line []byte, size int, err error) {
	part, err := s.text.ReadSlice('\n')
	if size = len(part); err != nil && size == 0 {
		s.over.Store(true)
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimRight(part, "\r\n"), size, lineError(err, size)
	}
	line = bytes.Clone(part)
	for errors.Is(err, bufio.ErrBufferFull) && size < longestLine {
		part, err = s.text.ReadSlice('\n')
		size += len(part)
	}
	return line, size, lineError(err, size)
}

// lineError is the error of a line that was read: the last line needs no end, and the first part
// of a long one has none.
func lineError(err error, size int) error {
	if size > 0 && (errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull)) {
		return nil
	}
	return err
}

// Send writes a line to the input of the process.
func (s *Stream) Send(line string) error {
	_, err := io.WriteString(s.in, line+"\n")
	return err
}

// streamGrace is how long a group may take to end after a SIGTERM, and after a SIGKILL.
const streamGrace = 500 * time.Millisecond

// End closes the input, ends the group by a SIGTERM and 0.5 s later by a SIGKILL, and waits for the process. One
// with its output closed is about to end by itself: it gets no SIGTERM. The error is how it ended, with the last
// line of stderr. A process that a driver holds does not end by a SIGKILL either: after another 0.5 s it is left.
func (s *Stream) End() error {
	_ = s.in.Close()
	defer s.out.Close()
	group := -s.cmd.Process.Pid
	if !s.over.Load() {
		_ = syscall.Kill(group, syscall.SIGTERM)
	}
	over := make(chan error, 1)
	go func() { over <- s.cmd.Wait() }()
	for range 2 {
		select {
		case err := <-over:
			_ = syscall.Kill(group, syscall.SIGKILL) // its children too
			return withLastLine(err, s.stderr)
		case <-time.After(streamGrace):
			_ = syscall.Kill(group, syscall.SIGKILL)
		}
	}
	return fmt.Errorf("process %d does not end", s.cmd.Process.Pid)
}
