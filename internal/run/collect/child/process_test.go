package child

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/test/devices"
)

// keeper makes this test binary a process that follows a program until it is killed.
const keeper = "PITOT_TEST_KEEPER"

var query = []string{"nvidia-smi", "--query-gpu=index,power.draw", "--loop-ms=20"}

func TestMain(m *testing.M) {
	devices.Main()
	if host, ok := os.LookupEnv(keeper); ok {
		f := Feed{Start: func() (Process, error) { return Start(Watched, host, query) }}
		_ = f.Follow(context.Background(), Handler{Line: func(l Line) Verdict { os.Stdout.WriteString(l.Text + "\n"); return Good }})
	}
	os.Exit(m.Run())
}

// alive is a named pipe, and a function that waits until no fake holds it open any more.
func alive(t *testing.T) (pipe string, gone func()) {
	pipe = filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if f, err := os.Open(pipe); err == nil {
			_, _ = io.Copy(io.Discard, f)
			f.Close()
		}
	}()
	return pipe, func() {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Error("a program was left behind")
		}
	}
}

func where(host string) string {
	if host == "" {
		return "here"
	}
	return "through ssh"
}

// A real shell around a real process: it prints, tells its clock, answers questions, and is
// gone when nobody follows it any more.
func TestAProgramIsFollowedAndEnded(t *testing.T) {
	for _, host := range []string{"", "gpu1"} {
		t.Run(where(host), func(t *testing.T) {
			pipe, gone := alive(t)
			devices.Install(t, devices.Fake{Devices: 2, Others: 1, Alive: pipe, Power: devices.Curve{Corners: []devices.Corner{{W: 250}}}})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			rows, clock, answers := 0, Clock{}, ""
			f := Feed{Every: time.Hour, Start: func() (Process, error) { return Start(Watched, host, query) }}
			err := f.Follow(ctx, Handler{
				Line: func(l Line) Verdict {
					switch rest, isAnswer := strings.CutPrefix(l.Text, Answer+" "); {
					case strings.HasPrefix(rest, "clock ") && isAnswer:
						if err := clock.Answer(strings.TrimPrefix(rest, "clock "), l.At); err != nil {
							t.Error(err)
						}
					case isAnswer:
						answers += rest
					case l.Text == "0, 250.00" || l.Text == "1, 250.00":
						rows++
					default:
						t.Errorf("%q", l.Text)
					}
					if rows > 4 && answers != "" {
						cancel()
					}
					return Good
				},
				Tick: func(send func(string) error) {
					clock.Ask(send)
					if err := send("ask aside nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader,nounits"); err != nil {
						t.Error(err)
					}
				},
				Trouble: func(m plan.Message) { t.Error(m) },
			})
			if err != nil || answers != "aside GPU-00000000-0000-0000-0000-000000000000, 4000" {
				t.Error(err, answers)
			}
			if _, c := clock.Instant(time.Now(), time.Now(), time.Minute); !c.Own || c.Offset.Abs() > c.Bound {
				t.Errorf("the clock of this machine: %+v", c)
			}
			gone()
		})
	}
}

// Whoever follows a program may be killed: neither the program nor a shell is left.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, host := range []string{"", "gpu1"} {
		t.Run(where(host), func(t *testing.T) {
			pipe, gone := alive(t)
			devices.Install(t, devices.Fake{Alive: pipe})
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), keeper+"="+host)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || line != "0, 0.00\n" {
				t.Errorf("%q, %v", line, err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			gone()
		})
	}
}

// What it says when it dies, its exit code, and a line of 10 MB.
func TestHowItEnds(t *testing.T) {
	devices.Install(t, devices.Fake{Programs: []string{"nvidia-smi"}, Samples: 1, Then: devices.Die, Period: time.Millisecond})
	for _, x := range []struct {
		args []string
		want string
	}{
		{query, "nvidia-smi: exit status 3: nvidia-smi: lost the device"},
		{[]string{"nvidia-smi", "--what"}, "nvidia-smi: exit status 2: nvidia-smi: lost the device: unknown arguments: nvidia-smi --what"},
		{[]string{"npu-smi-of-nobody"}, "nvidia-smi: exit status 127: npu-smi-of-nobody is not installed"},
	} {
		f := Feed{Name: "nvidia-smi", Start: func() (Process, error) { return Start(Watched, "", x.args) }}
		err := f.Follow(t.Context(), Handler{Line: func(Line) Verdict { return Odd }})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q, want %q", err, x.want)
		}
	}
	devices.Install(t, devices.Fake{Then: devices.Long, Period: time.Millisecond})
	p, err := Start(Watched, "", query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.End() }()
	if line, _, err := p.Line(); err != nil || string(line) != Ready {
		t.Errorf("%q, %v", line, err)
	}
	if line, size, err := p.Line(); err != nil || size != 10<<20+1 || len(line) != 64<<10 {
		t.Errorf("%d of %d bytes, %v", len(line), size, err)
	}
	if line, _, err := p.Line(); err != nil || string(line) != "0, 0.00" {
		t.Errorf("%q, %v", line, err)
	}
}
