package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var tableSize = regexp.MustCompile(`(?m)^FDSize:\s*(\d+)$`)

func statusOf(p *os.Process) []byte {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
	return b
}

// roomy complains of a process whose table of descriptors has not been enlarged, by what /proc says of it.
func roomy(t *testing.T, status []byte) {
	t.Helper()
	m := tableSize.FindSubmatch(status)
	if m == nil {
		t.Fatalf("no size of a table in %q", status)
	}
	if n, _ := strconv.Atoi(string(m[1])); n < 1024 {
		t.Errorf("there is room for %d descriptors", n)
	}
}

// Clients and servers have room for a thousand connections before the first comes.
func TestRoomForConnections(t *testing.T) {
	pitot := build(t)
	store := filepath.Join(t.TempDir(), "runs.db")

	t.Run("client", func(t *testing.T) {
		client := make(chan *exec.Cmd, 1)
		statuses := make(chan []byte, 1)
		url := listen(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if !strings.HasSuffix(r.URL.Path, "/completions") {
				return // before the load
			}
			statuses <- statusOf((<-client).Process)
			fmt.Fprint(w, `{"choices":[{"text":"a","finish_reason":"stop"}]}`)
		})})
		cmd := command(t, store, pitot, "bench", "-q", "--url", url, "--model", "m", "-n", "1", "--no-stream", "--warmup", "0", "--ready-timeout", "0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		client <- cmd
		err := cmd.Wait()
		select {
		case status := <-statuses:
			roomy(t, status)
		default:
			t.Fatalf("no request came: %v", err)
		}
	})
	t.Run("simulated server", func(t *testing.T) {
		server, url := startServer(t, pitot)
		answer, err := http.Get(url + "/v1/models") // so it serves
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		roomy(t, statusOf(server))
	})
	t.Run("truth server", func(t *testing.T) {
		// The client is a shell, whose parent is the server.
		file := filepath.Join(t.TempDir(), "status")
		_ = command(t, store, pitot, "conform", "--grid", "streams=1 step=1ms output=1 requests=1", "--", "sh", "-c", "cat /proc/$PPID/status > "+file, "{url}").Run()
		status, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		roomy(t, status)
	})
}

// Nothing is logged where libraries look for what a kernel or a container has not: the pressure of a group.
func TestTheStartIsQuiet(t *testing.T) {
	t.Parallel()
	hidden := "mount -t tmpfs none /sys/fs/cgroup && exec "
	if exec.Command("unshare", "-m", "sh", "-c", hidden+"true").Run() != nil {
		t.Skip("no file system can be mounted here")
	}
	out, err := exec.Command("unshare", "-m", "sh", "-c", hidden+build(t)+" version").CombinedOutput() //nolint:gosec // its own program
	if err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
