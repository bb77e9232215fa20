package delivery

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// sizes are numbers of chunks of a record.
var sizes = []int{128, 1024}

func BenchmarkEncode(b *testing.B) {
	for _, chunks := range sizes {
		b.Run(fmt.Sprint("chunks=", chunks), func(b *testing.B) {
			r := sample(1, chunks)
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = appendRecordFrame(buf[:0], recordFrame, r)
			}
			b.ReportMetric(float64(len(buf)), "bytes/record")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, chunks := range sizes {
		b.Run(fmt.Sprint("chunks=", chunks), func(b *testing.B) {
			buf := appendRecord(nil, sample(1, chunks))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decodeRecord(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// asServer in the environment makes this binary a NATS server in the folder that it names. A process
// of its own keeps its CPU time out of that of a Sender or a Receiver.
const asServer = "PITOT_TEST_NATS_SERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asServer); dir != "" {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		s.Start()
		s.ReadyForConnections(10 * time.Second)
		fmt.Println(s.ClientURL())
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
		s.Shutdown()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// separate starts a server in a process of its own, and returns its URL.
func separate(b *testing.B) string {
	b.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asServer+"="+b.TempDir())
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// many is how many records a benchmark sends, receives or stores at a time.
const many = 5000

// measure reports what do takes a record: time, and CPU time of this process. prepare is not counted.
func measure[T any](b *testing.B, prepare func(chunks int) T, do func(T)) {
	for _, chunks := range sizes {
		b.Run(fmt.Sprint("chunks=", chunks), func(b *testing.B) {
			var wall, busy time.Duration
			for b.Loop() {
				b.StopTimer()
				prepared := prepare(chunks)
				runtime.GC()
				b.StartTimer()
				began, before := time.Now(), cpu(b)
				do(prepared)
				wall, busy = wall+time.Since(began), busy+cpu(b)-before
			}
			b.ReportMetric(float64(wall.Nanoseconds())/many/float64(b.N), "ns/record")
			b.ReportMetric(float64(busy.Nanoseconds())/many/float64(b.N), "cpu-ns/record")
		})
	}
}

// cpu is the CPU time of this process until now.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A Sender, a server and a Receiver in this process, on loopback, with files.
func BenchmarkDeliver(b *testing.B) {
	type parts struct {
		*collector
		sender  jetstream.JetStream
		records []*trace.Record
	}
	measure(b, func(chunks int) parts {
		s := start(b)
		create(b, s.connect(b), 1)
		return parts{collect(b, s.connect(b)), s.connect(b), shares(1, many, chunks)[0]}
	}, func(p parts) {
		deliver(b, p.sender, 0, p.records)
		<-p.all
	})
}

// A Sender alone: what a worker does beyond a plain run.
func BenchmarkSend(b *testing.B) {
	type parts struct {
		js      jetstream.JetStream
		records []*trace.Record
	}
	url := separate(b)
	measure(b, func(chunks int) parts {
		js := connect(b, url)
		if err := Remove(b.Context(), js, run); err != nil {
			b.Fatal(err)
		}
		create(b, js, 1)
		return parts{js, shares(1, many, chunks)[0]}
	}, func(p parts) { deliver(b, p.js, 0, p.records) })
}

// A Sender that has to send each record by itself: what a message takes, of which an idle worker sends ten
// a second.
func BenchmarkSendEach(b *testing.B) {
	js := connect(b, separate(b))
	create(b, js, 1)
	s, r := NewSender(js, run, 0, keys[0]), sample(1, 128)
	defer s.Close()
	before := cpu(b)
	for b.Loop() {
		s.Record(r)
		if err := s.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/message")
}

// discard is a Handler that forgets.
type discard struct{ ended chan struct{} }

func (discard) Record(int, *trace.Record) {}
func (d discard) End(int, fleet.End)      { close(d.ended) }
func (discard) Damaged(int, error)        {}
func (discard) Forged(int, int)           {}

// A Receiver alone: what a controller does beyond a plain run.
func BenchmarkReceive(b *testing.B) {
	url := separate(b)
	measure(b, func(chunks int) jetstream.JetStream {
		js := connect(b, url)
		if err := Remove(b.Context(), js, run); err != nil {
			b.Fatal(err)
		}
		create(b, js, 1)
		deliver(b, js, 0, shares(1, many, chunks)[0])
		return js
	}, func(js jetstream.JetStream) {
		r := NewReceiver(js, heading(1))
		ctx, cancel := context.WithCancel(b.Context())
		h := discard{make(chan struct{})}
		var running sync.WaitGroup
		running.Go(func() {
			if err := r.Run(ctx, h); err != nil {
				b.Error(err)
			}
		})
		<-h.ended
		cancel()
		running.Wait()
	})
}

// The writer of the store alone: what a plain run does with a record, to compare BenchmarkReceive with.
func BenchmarkStore(b *testing.B) {
	type parts struct {
		*store.Store
		records []*trace.Record
	}
	measure(b, func(chunks int) parts {
		s, err := store.Open(filepath.Join(b.TempDir(), "runs.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return parts{s, shares(1, many, chunks)[0]}
	}, func(p parts) {
		r := trace.Run{ID: run, Kind: trace.Measured, Started: time.Unix(1, 0), End: trace.Never}
		w, err := p.Create(r, store.Owner{})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range p.records {
			w.Append(r)
		}
		if err := w.Finish(r); err != nil {
			b.Fatal(err)
		}
	})
}
