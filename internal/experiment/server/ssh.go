package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// remote is a process of another Linux host, which leads a session there. All scripts go to its shell as input, so
// that values do not appear in a command line.
type remote struct{}

// announced begins the line of a log in which a runner reports.
const announced = "pitot-server "

// row reads the line of a process in /proc behind its name, which may contain blanks.
const row = `
boot=$(cat /proc/sys/kernel/random/boot_id)
row() {
  IFS= read -r line <"/proc/$1/stat" || return 1
  line=${line##*) }
  set -- $line
  state=$1 session=$4 start=${20}
} 2>/dev/null
`

// begin starts the server, reports its number and start, and ends as it ends. Its output goes through the
// connection.
const begin = row + `
if command -v setsid >/dev/null 2>&1; then
  PITOT_SERVER=$mark setsid sh -c "$command" </dev/null &
else
  PITOT_SERVER=$mark sh -c "$command" </dev/null &
fi
pid=$!
row "$pid" || start=
echo "` + announced + `$mark $pid $boot/$start"
wait "$pid"
exit $?
`

// look finds the processes of a server, sends them a signal, and prints their numbers. Their
// session is that of the first process, if that is still the same one, and those of
// processes with the mark.
const look = row + `
[ -r /proc/self/stat ] || { echo "there is no /proc on this host" >&2; exit 1; }
sessions=" " marked=" " found=
if [ -n "$pid" ] && row "$pid" && [ "$boot/$start" = "$began" ]; then sessions=" $pid "; fi
for file in $(grep -ls "PITOT_SERVER=$mark" /proc/[0-9]*/environ); do
  p=${file#/proc/} p=${p%/environ}
  row "$p" && marked="$marked$p " sessions="$sessions$session "
done
for dir in /proc/[0-9]*; do
  p=${dir#/proc/}
  row "$p" || continue
  case $state in Z|X) continue ;; esac
  case "$sessions" in *" $session "*) found="$found $p"; continue ;; esac
  case "$marked" in *" $p "*) found="$found $p" ;; esac
done
if [ -n "$found" ] && [ -n "$signal" ]; then kill -s "$signal" $found 2>/dev/null; fi
echo "$found"
`

// ssh is the command line of a connection that reads a script as input. Options of the user come first, since ssh
// takes the first value of an option.
func ssh(client, options, host string, more ...string) []string {
	script := `exec "$0" ` + options + ` "$@"`
	args := append([]string{"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15"}, more...)
	return append(append([]string{"/bin/sh", "-c", script, client}, args...), "--", host, "sh")
}

func (remote) command(s design.ServerSetup, h Handle) (proc.SessionCommand, error) {
	client, err := installed("ssh")
	if err != nil {
		return proc.SessionCommand{}, err
	}
	var script strings.Builder
	for _, pair := range pairs(s.Env) {
		name, value, _ := strings.Cut(pair, "=")
		fmt.Fprintf(&script, "export %s=%s\n", name, quoted(value))
	}
	if s.Cwd != "" {
		fmt.Fprintf(&script, "cd %s || exit 1\n", quoted(s.Cwd))
	}
	fmt.Fprintf(&script, "mark=%s command=%s\n%s", quoted(h.Remote.Mark), quoted(s.Command), begin)
	return proc.SessionCommand{Args: ssh(client, s.Options, s.Host), Input: script.String()}, nil
}

func (remote) shell(ctx context.Context, h Handle, o Options, script string) (string, error) {
	options, err := h.options()
	if err != nil {
		return "", err
	}
	out, err := o.output(ctx, proc.Question{Args: ssh("ssh", options, h.Host, "-o", "ClearAllForwardings=yes"), Input: script})
	if err != nil {
		err = fmt.Errorf("ssh %s: %w", h.Host, err)
	}
	return out, err
}

// send looks for the processes on the host, and sends them a signal if there is one.
func (r remote) send(ctx context.Context, h Handle, o Options, signal string) ([]string, error) {
	pid := ""
	if h.Remote.PID > 0 {
		pid = fmt.Sprint(h.Remote.PID)
	}
	given := fmt.Sprintf("mark=%s pid=%s began=%s signal=%s\n", quoted(h.Remote.Mark), quoted(pid), quoted(h.Remote.Began), quoted(signal))
	out, err := r.shell(ctx, h, o, given+look)
	return strings.Fields(out), err
}

func (r remote) living(ctx context.Context, h Handle, o Options) (found []string, err error) {
	pids, err := r.send(ctx, h, o, "")
	for _, pid := range pids {
		found = append(found, fmt.Sprintf("process %s on %s", pid, h.Host))
	}
	return found, err
}

func (r remote) end(ctx context.Context, e ending) (forced bool, err error) {
	e.Waits.Poll *= 5 // each look is a connection
	return e.signalAll(func(signal proc.Signal) ([]string, error) {
		name := map[proc.Signal]string{proc.Term: "TERM", proc.Kill: "KILL"}[signal]
		pids, err := r.send(ctx, e.handle, e.Options, name)
		return pids, err
	})
}

func (remote) sweep(context.Context, ending) error { return nil }

// settle reads the announcement of a server that was started on another host.
func (h *Handle) settle(words []string) error {
	if len(words) != 2 {
		return errors.New("the host told no process id")
	}
	h.Remote.Began = words[1]
	_, err := fmt.Sscan(words[0], &h.Remote.PID)
	return err
}
