package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// plainly makes a program print numbers with points, instants in UTC, and each line at once.
// All scripts are one line each, since they pass through the login shell of another host.
const plainly = `LC_ALL=C TZ=UTC0 PYTHONUNBUFFERED=1; export LC_ALL TZ PYTHONUNBUFFERED; `

// Watched runs its arguments as a program and answers lines of the input meanwhile, after a line Ready. When the
// input ends it kills its process group, which is that of a Stream here and that of the session through ssh: the
// program may be a wrapper of the one that does the work.
//
//	clock N               Answer, clock, N, the seconds since 1970 by the clock of the host
//	ask NAME COMMAND ...  Answer, NAME, the first 60 kB of the output of the command with ; in
//	                      place of line ends; Failed at the end if the command failed
//
// A command runs in the background of the loop, so that one that hangs delays neither clock nor end; the next must
// not be asked for before the answer. Where there is stdbuf, it makes a program that buffers its output flush each
// line. The loop ignores SIGPIPE: when this process is killed its output breaks first, and the loop must live until
// the input ends.
const Watched = plainly +
	`command -v "$1" >/dev/null 2>&1 || { echo "$1 is not installed" >&2; exit 127; }; exec 3<&0; ` +
	`if command -v stdbuf >/dev/null 2>&1; then set -- stdbuf -oL "$@"; fi; ` +
	`"$@" </dev/null 3<&- & program=$!; ` +
	`{ trap "" PIPE; echo "` + Ready + `"; while read -r what name rest <&3; do case $what in ` +
	`clock) echo "` + Answer + ` clock $name $(date +%s.%N)" ;; ` +
	`ask) wait; { out=$({ trap - PIPE; $rest 2>/dev/null 3<&- || echo ` + Failed + `; } | head -c 60000); printf "` +
	Answer + ` %s %s\n" "$name" "$(printf %s "$out" | tr "\n" ";")"; } & ;; ` +
	`esac; done; kill -9 0; } 2>/dev/null & watcher=$!; ` +
	`wait "$program"; code=$?; kill "$watcher" 2>/dev/null; exit "$code"`

// once runs its arguments as a short command: its output, then a line of End and its exit code.
// When the input ends before that, it kills its process group.
const once = plainly +
	`exec 3<&0; "$@" </dev/null 3<&- & program=$!; { read -r nothing <&3; kill -9 0; } >/dev/null 2>&1 & watcher=$!; ` +
	`wait "$program"; code=$?; kill "$watcher" 2>/dev/null; printf "\n` + End + ` %s\n" "$code"`

// Asked runs a command when it is asked to, by a line with a number: Ready at first; then Begin and the
// number, the output of the command, End and the number. When the input ends it kills its process group,
// whatever the command does.
const Asked = plainly + `{ trap "" PIPE; while read -r n; do echo "$n"; done; kill -9 0; } 2>/dev/null | ` +
	`{ echo "` + Ready + `"; while read -r n; do echo "` + Begin + ` $n"; "$@" 2>/dev/null </dev/null; echo "` + End +
	` $n"; done; }`

// First words of lines that the scripts print.
const (
	Ready  = "pitot-ready" // the connection is there
	Answer = "pitot-answer"
	Failed = "pitot-failed" // at the end of an output
	Begin  = "pitot-begin"
	End    = "pitot-end"
)

// StartProcess starts a program under a script, on this machine or on another host.
func StartProcess(script, host string, args []string) (Process, error) {
	s, err := proc.StartStream(On(host, append([]string{"/bin/sh", "-c", script, "sh"}, args...)))
	if err != nil { // not a nil *proc.Stream in an interface
		return nil, err
	}
	return s, nil
}

// Ask runs a short command, on this machine or on another host, and returns its output. One that
// prints more than 1 MiB is ended, and has no answer. Nothing of it is left when Ask returns, nor
// when this process is killed.
func Ask(ctx context.Context, host string, args ...string) (string, error) {
	p, err := StartProcess(once, host, args)
	if err != nil {
		return "", err
	}
	type answer struct{ text, code string }
	read := make(chan answer, 1)
	go func() {
		text, code := readAnswer(p)
		read <- answer{text, code}
	}()
	select {
	case a := <-read:
		if ended := p.End(); a.code == "" {
			return a.text, cmp.Or(ended, errors.New("it ended without an answer"))
		}
		if a.code != "0" {
			return a.text, fmt.Errorf("exit status %s", a.code)
		}
		return a.text, nil
	case <-ctx.Done():
		_ = p.End() // ends its output too
		<-read
		return "", context.Cause(ctx)
	}
}

// readAnswer reads the output of once; code is empty if it was ended before, or printed too much.
func readAnswer(p Process) (text, code string) {
	var all strings.Builder
	for read := 0; read <= mostAnswer; {
		line, size, err := p.Line()
		if err != nil {
			break
		}
		if code, ok := strings.CutPrefix(string(line), End+" "); ok {
			return all.String(), code
		}
		read += size
		all.Write(line)
		all.WriteByte('\n')
	}
	return all.String(), ""
}

// mostAnswer bounds an answer, in bytes.
const mostAnswer = 1 << 20

// On is the command line that runs a command on a host, empty for this machine.
func On(host string, args []string) []string {
	if host == "" {
		return args
	}
	return []string{
		"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o",
		"ServerAliveCountMax=2",
		"-o", "ClearAllForwardings=yes", "--", host, shell.Join(args),
	}
}

// CheckHost refuses a host that ssh would not take as one.
func CheckHost(host string) error {
	_, name, hasUser := strings.Cut(host, "@")
	switch {
	case host == "" || hasUser && name == "":
		return fmt.Errorf("no host after @: write HOST or USER@HOST")
	case strings.HasPrefix(host, "-") || strings.HasPrefix(name, "-"):
		return fmt.Errorf("host %q begins with a dash: write HOST or USER@HOST", host)
	case strings.ContainsFunc(host, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return fmt.Errorf("host %q has a space or a control character: write HOST or USER@HOST", host)
	}
	return nil
}

// Name is program@host, or the program alone on this machine.
func Name(program, host string) string {
	if host == "" {
		return program
	}
	return program + "@" + host
}

// AskLimit is how long a short command may take.
const AskLimit = 5 * time.Second
