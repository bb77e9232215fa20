package view

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// answered is the i-th request of a run of 20 per second, answered in 64 chunks.
func answered(i int) *trace.Record {
	r := trace.NewRecord(i)
	at := trace.Instant(i) * 50e6
	r.Due, r.Released, r.Sent, r.FirstByte = at, at, at, at+20e6
	r.PromptTokens, r.OutputTokens = 256, 64
	for j := range 64 {
		r.Chunks = append(r.Chunks, trace.Chunk{At: at + 20e6 + trace.Instant(j)*8e6 + trace.Instant(i*j%977)*1000, Kind: trace.Text, Tokens: 1})
	}
	r.Done = r.Chunks[63].At
	return r
}

// A request with 64 chunks is added.
func BenchmarkAdd(b *testing.B) {
	d := NewDigest(trace.Run{End: trace.Never, Plan: trace.Load{Stream: true}})
	records := make([]*trace.Record, 1000)
	for i := range records {
		records[i] = answered(i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d.Add(records[i%len(records)])
		i++
	}
}

// The course of a run of 100 000 requests, while more come and when all are there.
func BenchmarkCourse(b *testing.B) {
	d := NewDigest(trace.Run{End: trace.Never, Plan: trace.Load{Stream: true}})
	for i := range 100_000 {
		d.Add(answered(i))
	}
	for name, whole := range map[string]bool{"growing": false, "whole": true} {
		b.Run(name, func(b *testing.B) {
			d.SetComplete(whole)
			for b.Loop() {
				d.Course(words.In("en"))
			}
		})
	}
}

func BenchmarkRows(b *testing.B) {
	d := NewDigest(trace.Run{End: trace.Never, Plan: trace.Load{Stream: true}})
	for i := range 100_000 {
		d.Add(answered(i))
	}
	for b.Loop() {
		d.Rows(Window{Most: 100_000})
	}
}
