package collect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/test/devices"
)

// keeper makes this test binary a process that follows a program until it is killed.
const keeper = "PITOT_TEST_KEEPER"

// asker makes a keeper ask a program that does not end by itself.
const asker = "PITOT_TEST_ASKER"

var query = []string{"nvidia-smi", "--query-gpu=index,power.draw", "--loop-ms=20"}

func TestMain(m *testing.M) {
	devices.Main()
	if _, ok := os.LookupEnv(asker); ok {
		_, _ = Ask(context.Background(), os.Getenv(keeper), query...)
	}
	if host, ok := os.LookupEnv(keeper); ok {
		f := Feed{Start: func() (Process, error) { return StartProcess(Watched, host, query) }}
		_ = f.Follow(context.Background(), Handler{Line: func(l Line) Verdict {
			os.Stdout.WriteString(l.Text + "\n")
			return Good
		}})
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
		case <-time.After(time.Minute):
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
// gone when it has no follower any more.
func TestAProgramIsFollowedAndEnded(t *testing.T) {
	for _, host := range []string{"", "gpu1"} {
		t.Run(where(host), func(t *testing.T) {
			pipe, gone := alive(t)
			devices.Install(t, devices.Fake{
				Devices: 2, Others: 1, Alive: pipe, Power: devices.Curve{Corners: []devices.Corner{{W: 250}}},
			})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			rows, clock, answers := 0, Clock{}, ""
			f := Feed{Every: time.Hour, Start: func() (Process, error) { return StartProcess(Watched, host, query) }}
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
					const query = "nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader,nounits"
					if err := send("ask aside " + query); err != nil {
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

// The process that follows a program, or asks one, may be killed: neither the program nor a shell is left,
// even if a wrapper started the program and the program prints nothing.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, host := range []string{"", "gpu1"} {
		for name, env := range map[string]string{"followed": "", "asked": asker + "=1"} {
			t.Run(name+" "+where(host), func(t *testing.T) {
				pipe, gone := alive(t)
				devices.Install(t, devices.Fake{Then: devices.Hang})
				up := wrap(t, "nvidia-smi", pipe)
				self, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(self)
				cmd.Env = append(os.Environ(), keeper+"="+host, env)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(up); err != nil || string(text) != "up\n" {
					t.Errorf("%q, %v", text, err)
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				gone()
			})
		}
	}
}

// When the process that started a script is gone, the script ends with its program, even if that prints nothing: before
// the script has printed anything, and while the program works.
func TestNobodyIsThereAnyMore(t *testing.T) {
	for name, script := range map[string]string{"watched": Watched, "asked": Asked} {
		for when, last := range map[string]string{
			"at once": "", "later": map[string]string{Watched: Ready, Asked: Begin + " 1"}[script],
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				cmd := exec.Command("/bin/sh", "-c", script, "sh", "sleep", "3600")
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				in, question, errIn := os.Pipe()
				answers, out, errOut := os.Pipe()
				cmd.Stdin, cmd.Stdout = in, out
				_, errAsk := question.WriteString("1\n")
				if err := errors.Join(errIn, errOut, errAsk); err != nil {
					t.Fatal(err)
				}
				leave := func() { question.Close(); answers.Close() }
				if last == "" {
					leave()
				}
				if err := errors.Join(cmd.Start(), in.Close(), out.Close()); err != nil {
					t.Fatal(err)
				}
				for lines := bufio.NewScanner(answers); last != "" && lines.Scan() && lines.Text() != last; {
				}
				leave()
				ends(t, cmd)
			})
		}
	}
}

// ends waits for a process that ends by itself.
func ends(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it still runs")
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
}

// wrap puts a script ahead of a program in PATH that holds a pipe open, as what it starts does,
// starts the program, and says that it is up in another pipe, which is returned.
func wrap(t *testing.T, program, pipe string) (up string) {
	t.Helper()
	real, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if up = filepath.Join(dir, "up"); syscall.Mkfifo(up, 0o600) != nil {
		t.Fatal(up)
	}
	text := fmt.Sprintf("#!/bin/sh\nexec 9>%q; %q \"$@\" & echo up >%q; wait $!\n", pipe, real, up)
	if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o700); err != nil { // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return up
}

// A background question that hangs delays neither the clock nor the end; one that fails says so.
func TestQuestionsBeside(t *testing.T) {
	pipe, gone := alive(t)
	devices.Install(t, devices.Fake{Alive: pipe})
	p, err := StartProcess(Watched, "", query)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"ask bad false", "ask slow sleep 3600", "clock 7"} {
		if err := p.Send(line); err != nil {
			t.Fatal(err)
		}
	}
	var answers []string
	for sampled := false; len(answers) < 2 || !sampled; {
		line, _, err := p.Line()
		if err != nil {
			t.Fatal(err)
		}
		if answer, ok := strings.CutPrefix(string(line), Answer+" "); ok {
			answers = append(answers, answer)
		}
		sampled = sampled || string(line) == "0, 0.00"
	}
	slices.Sort(answers)
	if answers[0] != "bad "+Failed || !strings.HasPrefix(answers[1], "clock 7 ") {
		t.Error(answers)
	}
	_ = p.End()
	gone()
}

// What a short command prints, how it ends, and that it is ended with the context, with what it
// has started.
func TestAsk(t *testing.T) {
	devices.Install(t, devices.Fake{})
	for _, host := range []string{"", "gpu1"} {
		if text, err := Ask(t.Context(), host, "printf", "a\nb"); err != nil || strings.TrimSpace(text) != "a\nb" {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := Ask(t.Context(), host, "sh", "-c", "exit 3"); err == nil || err.Error() != "exit status 3" {
			t.Error(err)
		}
		pipe, gone := alive(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		up := filepath.Join(t.TempDir(), "up")
		if err := syscall.Mkfifo(up, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = os.ReadFile(up)
			cancel(enough)
		}()
		_, err := Ask(ctx, host, "sh", "-c",
			fmt.Sprintf("exec 9>%q; echo up >%q; trap '' TERM; sleep 3600; sleep 3600", pipe, up))
		if !errors.Is(err, enough) {
			t.Error(err)
		}
		gone()
	}
}

// What it says when it dies, its exit code, and a line of 10 MB.
func TestHowItEnds(t *testing.T) {
	devices.Install(t, devices.Fake{
		Programs: []string{"nvidia-smi"}, Samples: 1, Then: devices.Die, Period: time.Millisecond,
	})
	for _, x := range []struct {
		args []string
		want string
	}{
		{query, "nvidia-smi: exit status 3: nvidia-smi: lost the device"},
		{
			[]string{"nvidia-smi", "--what"},
			"nvidia-smi: exit status 2: nvidia-smi: lost the device: unknown arguments: nvidia-smi --what",
		},
		{[]string{"npu-smi-of-nobody"}, "nvidia-smi: exit status 127: npu-smi-of-nobody is not installed"},
	} {
		f := Feed{Name: "nvidia-smi", Start: func() (Process, error) { return StartProcess(Watched, "", x.args) }}
		err := f.Follow(t.Context(), Handler{Line: func(Line) Verdict { return Odd }})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q, want %q", err, x.want)
		}
	}
	devices.Install(t, devices.Fake{Then: devices.Long, Period: time.Millisecond})
	p, err := StartProcess(Watched, "", query)
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
