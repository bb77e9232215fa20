package torture

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// printers are programs that print as fast as they can, for ever: lines, no line, errors.
var printers = map[string]string{"lines": "exec yes", "bytes": "exec cat /dev/zero", "errors": "exec yes >&2"}

// Programs that are asked for the environment or sampled beside a run, and print without end.
func TestProgramsThatFlood(t *testing.T) {
	s := serve(t, false, kind)
	for flood, script := range printers {
		for name, args := range map[string][]string{
			"env": {"env", "ssh:peer"},
			"run": {"bench", "-q", "-n", "40", "-c", "8", "--output-len", "8", "--engine-ttft", "1ms", "--engine-itl", "1ms", "--collect", "nvidia-smi", "--collect", "host@peer"},
			"far": {"bench", "-q", "--url", s.url, "--model", "m", "--tokenizer", "none", "-n", "4", "-c", "1", "--input-len", "4", "--output-len", "2", "--server-env", "ssh:peer"},
		} {
			t.Run(flood+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				for _, program := range []string{"ssh", "nvidia-smi"} {
					if err := os.Chmod(p.write(t, "bin/"+program, "#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				p.env = append(p.env, "PATH="+filepath.Join(p.dir, "bin")+":"+os.Getenv("PATH"))
				p.start(t, child{args: args}).wait().check(t, 0, 1)
			})
		}
	}
}

// Pages of metrics as large as they may be, again and again. The run is ended when its server has
// been asked for eight of them.
func TestPagesAtTheirLimits(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	for name, line := range map[string]func(page, n int) string{
		"unknown": func(_, n int) string { return fmt.Sprintf("x%d 1\n", n) },
		"series":  func(_, n int) string { return fmt.Sprintf("vllm:num_requests_running{engine=\"%d\"} 1\n", n) },
		"changing": func(page, n int) string {
			return fmt.Sprintf("vllm:num_requests_running{engine=\"%d-%d\"} 1\n", page, n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			enough := make(chan struct{})
			s := serve(t, false, func(r request) reply {
				if r.path != "/metrics" {
					return kind(r)
				}
				page := int(asked.Add(1))
				if page == 8 {
					close(enough)
				}
				return reply{kind: "text/plain", body: func(w io.Writer) error {
					for n := range 85_000 {
						if _, err := io.WriteString(w, line(page%10, n)); err != nil {
							return err
						}
					}
					return nil
				}}
			})
			p := newPlace(t)
			r := p.start(t, child{wall: 2 * time.Minute, args: []string{
				"bench", "-q", "--url", s.url, "--model", "m", "--tokenizer", "none", "--ready-timeout", "0",
				"--rate", "5", "--duration", "100s", "--input-len", "4", "--output-len", "2",
			}})
			select {
			case <-enough:
				_ = r.cmd.Process.Signal(syscall.SIGINT)
			case <-time.After(time.Minute):
				t.Errorf("%d pages in a minute", asked.Load())
				_ = r.cmd.Process.Kill()
			}
			r.wait().check(t, 130)
		})
	}
}
