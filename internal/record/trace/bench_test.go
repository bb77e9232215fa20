//go:build unix

package trace

import (
	"syscall"
	"testing"
)

// cpu is the processor time of this process, in nanoseconds.
func cpu() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(0, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkEncodeBlock(b *testing.B) {
	for name, pack := range map[string]*Packer{"raw": {Plain: true}, "packed": {}} {
		b.Run(name, func(b *testing.B) {
			all := noisy(512, 128)
			size, start := 0, cpu()
			for b.Loop() {
				one := pack.Block(all)
				size = len(one.Heads) + len(one.Chunks)
			}
			b.ReportMetric(float64(size)/512, "B/record")
			b.ReportMetric((cpu()-start)/float64(b.N)/512, "ns/record")
		})
	}
}

func BenchmarkDecodeBlock(b *testing.B) {
	all := noisy(512, 128)
	one := new(Packer).Block(all)
	b.Run("heads", func(b *testing.B) {
		start := cpu()
		for b.Loop() {
			if _, err := DecodeHeads(one.Heads, len(all)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((cpu()-start)/float64(b.N)/512, "ns/record")
	})
	b.Run("all", func(b *testing.B) {
		start := cpu()
		for b.Loop() {
			h, err := DecodeHeads(one.Heads, len(all))
			if err == nil {
				err = h.ReadChunks(one.Chunks, 0, len(all))
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((cpu()-start)/float64(b.N)/512, "ns/record")
	})
}
