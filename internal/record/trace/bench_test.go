package trace

import (
	"math/rand/v2"
	"syscall"
	"testing"
)

func cpu() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(0, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func noisy(n, tokens int) (all []*Record) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		r := NewRecord(i)
		at := Instant(i) * 10_000_000
		r.Due, r.Released, r.Sent, r.FirstByte = at, at+Instant(random.IntN(1e5)), at+2e5+Instant(random.IntN(1e5)), at+2e8+Instant(random.IntN(5e7))
		r.PromptTokens, r.WantTokens, r.OutputTokens, r.Usage.Prompt, r.Usage.Completion, r.Status = 100+random.IntN(20), tokens, tokens, 100, tokens, 200
		r.FinishReason, r.Stamps, r.CountedFrom = "length", KernelStamps, FromUsage
		at = r.FirstByte
		for range tokens {
			r.Chunks = append(r.Chunks, Chunk{At: at, Tokens: 1, Kind: Text})
			at += 8_300_000 + Instant(random.NormFloat64()*40_000)
		}
		r.Done = at
		all = append(all, r)
	}
	return all
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
