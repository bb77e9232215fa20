package bus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// After a disk was full, streams go on with what they had as soon as the folder can be written.
func TestADiskWasFull(t *testing.T) {
	t.Parallel()
	o, err := ServerOptions{Dir: t.TempDir()}.convert()
	if err != nil {
		t.Fatal(err)
	}
	log := new(logger)
	s, err := start(o, log)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	lines := make(chan string, 9)
	defer watchDisk(s, o, log, 10*time.Millisecond, func(line string) { lines <- line })()
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Storage: jetstream.FileStorage}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s", []byte("before")); err != nil {
		t.Fatal(err)
	}
	inTheWay := filepath.Join(o.StoreDir, "space", "full")
	if err := os.MkdirAll(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	log.Errorf("JetStream stream '%s > %s' critical write error: %v", "$G", "S", "no space left on device")
	if line := <-lines; !strings.Contains(line, "cannot be written") || !strings.Contains(line, o.StoreDir) {
		t.Errorf("said %q", line)
	}
	if err := os.RemoveAll(filepath.Dir(inTheWay)); err != nil {
		t.Fatal(err)
	}
	if line := <-lines; !strings.Contains(line, "written again") {
		t.Errorf("said %q", line)
	}
	if ack, err := js.Publish(t.Context(), "s", []byte("after")); err != nil || ack.Sequence != 2 {
		t.Errorf("%+v, %v", ack, err)
	}
	if left, err := filepath.Glob(filepath.Join(o.StoreDir, "space*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
