package trace

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// noisy are n requests at 100 a second, the chunks of which have gaps of 8.3 ms with a noise of 40 µs.
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

// decode reads all of a block.
func decode(b Block) ([]*Record, error) {
	h, err := DecodeHeads(b.Heads, b.Records)
	if err == nil {
		err = h.ReadChunks(b.Chunks, 0, b.Records)
	}
	if err == nil {
		err = h.ReadTexts(b.Texts)
	}
	if err == nil {
		err = h.ReadMarks(b.Marks)
	}
	if err != nil {
		return nil, err
	}
	return h.Records, nil
}

func drawRecord(t *rapid.T) *Record {
	r := NewRecord(rapid.Int().Draw(t, "index"))
	text := rapid.OneOf(rapid.Just(""), rapid.String())
	for _, at := range []*string{&r.ID, &r.Tenant, &r.Session, &r.Text, &r.FinishReason, &r.Error, &r.Quirks.Unread, &r.Quirks.RetryAfter} {
		*at = text.Draw(t, "text")
	}
	r.Marks, r.Defects = Marks(text.Draw(t, "marks")), Defects(rapid.Uint8().Draw(t, "defects"))
	r.Class, r.CountedFrom, r.Stamps = Class(text.Draw(t, "class")), Source(text.Draw(t, "from")), Stamps(text.Draw(t, "stamps"))
	for _, at := range []*int{
		&r.PromptTokens, &r.WantTokens, &r.Inputs, &r.Turn, &r.VisionTokens, &r.Status, &r.OutputTokens, &r.Usage.Prompt, &r.Usage.Completion,
		&r.Usage.Cached, &r.Usage.Reasoning, &r.Retokenized, &r.Redials, &r.OtherLines, &r.Quirks.Choices,
	} {
		*at = rapid.OneOf(rapid.Just(0), rapid.Int()).Draw(t, "count")
	}
	for _, at := range []*Instant{&r.Due, &r.Free, &r.Released, &r.Dialed, &r.Connected, &r.Sent, &r.FirstByte, &r.Done, &r.Usage.At} {
		*at = Instant(rapid.OneOf(rapid.Just(int64(Never)), rapid.Int64Min(0)).Draw(t, "instant"))
	}
	r.FirstSent, r.Resent = Instant(rapid.Int64().Draw(t, "first")), rapid.Bool().Draw(t, "resent")
	r.Accept, r.AudioSeconds = rapid.Float64().Draw(t, "accept"), rapid.Float64().Draw(t, "audio")
	if rapid.Bool().Draw(t, "tiers") {
		r.Usage.Tiers, r.Server = &CacheTiers{Host: 2, Backend: "b"}, &ServerTimes{Queue: new(float64)}
	}
	if r.Chunks = drawChunks(t); len(r.Chunks) == 0 {
		r.Chunks = nil
	}
	return r
}

func TestBlockRoundTrip(t *testing.T) {
	pack := new(Packer)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 100).Draw(t, "records")
		pack.Plain = rapid.Bool().Draw(t, "plain")
		got, err := decode(pack.Block(want))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range want {
			if !reflect.DeepEqual(r, got[i]) {
				t.Fatalf("%d: %+v was %+v", i, got[i], r)
			}
		}
	})
}

// Some records of a block are read without the chunks of the others.
func TestReadSomeChunks(t *testing.T) {
	all := noisy(20, 5)
	for _, i := range []int{0, 3, 4, 19} {
		all[i].Chunks = nil
	}
	b := new(Packer).Block(all)
	for from := range all {
		for to := from; to <= len(all); to++ {
			h, err := DecodeHeads(b.Heads, b.Records)
			if err == nil {
				err = h.ReadChunks(b.Chunks, from, to)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range h.Records {
				if want := all[i].Chunks; i >= from && i < to && !reflect.DeepEqual(want, r.Chunks) || (i < from || i >= to) && r.Chunks != nil {
					t.Fatalf("%d to %d: record %d has %v", from, to, i, r.Chunks)
				}
			}
		}
	}
}

// A record that exceeds every bound is alone in its block, and comes back.
func TestAHugeRecord(t *testing.T) {
	huge, small := NewRecord(0), NewRecord(1)
	huge.Chunks, huge.Text = make([]Chunk, 2*sectionBytes), strings.Repeat("x", 3*sectionBytes)
	for i := range huge.Chunks {
		huge.Chunks[i] = Chunk{At: Instant(i) * 1000, Kind: Text, Tokens: 1}
	}
	if n, full := Fit([]*Record{huge, small}); n != 1 || !full {
		t.Errorf("%d fit, full %t", n, full)
	}
	if n, full := Fit([]*Record{small, huge}); n != 1 || !full {
		t.Errorf("%d fit, full %t", n, full)
	}
	b := new(Packer).Block([]*Record{huge})
	if got, err := decode(b); err != nil || !reflect.DeepEqual(huge, got[0]) {
		t.Errorf("%v: it came back otherwise", err)
	}
	if b.Count != 2*sectionBytes || b.TextBytes != 3*sectionBytes || b.Low != 0 || b.High != 0 {
		t.Errorf("%+v", b)
	}
}

// A request takes at most 30 bytes, and a chunk with a noise of 40 µs 2.5.
func TestBytesOfABlock(t *testing.T) {
	all := noisy(500, 128)
	b := new(Packer).Block(all)
	heads, chunks := float64(len(b.Heads))/float64(len(all)), float64(len(b.Chunks))/float64(b.Count)
	if heads > 30 || chunks > 2.5 {
		t.Errorf("%.1f bytes a request, %.2f a chunk", heads, chunks)
	}
}

// Each bit of each part counts.
// Blocks of earlier stores end before the columns that came later.
func TestBlocksWithoutLaterColumns(t *testing.T) {
	b := new(Packer).Block([]*Record{{ID: "a"}, {ID: "b"}})
	for later := range 3 { // grades, and defects before them: 2 bytes each where there are none
		heads := b.Heads[5 : len(b.Heads)-2*later]
		if h, err := DecodeHeads(sealed(heads), b.Records); err != nil || h.Records[1].ID != "b" {
			t.Errorf("%d columns less: %v", later, err)
		}
	}
}

func TestADamagedPartIsRefused(t *testing.T) {
	all := noisy(3, 2)
	all[1].Text = "hello"
	b := new(Packer).Block(all)
	for _, part := range []*[]byte{&b.Heads, &b.Chunks, &b.Texts} {
		whole := *part
		for i := range 8 * len(whole) {
			*part = append([]byte(nil), whole...)
			(*part)[i/8] ^= 1 << (i % 8)
			if _, err := decode(b); err == nil {
				t.Fatalf("bit %d does not matter", i)
			}
		}
		*part = whole[:len(whole)-1]
		if _, err := decode(b); err == nil {
			t.Error("the last byte does not matter")
		}
		*part = whole
	}
}

// sealed gives bytes the checksum of a part.
func sealed(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{format}, crc32.Checksum(b, castagnoli)), b...)
}

// A hostile part with a right checksum takes no more memory than a block may.
func FuzzBlock(f *testing.F) {
	for _, plain := range []bool{true, false} {
		all := noisy(60, 3)
		all[1].Text, all[2].Error, all[3].Quirks.Choices = "hello", "e", 3
		pack := Packer{Plain: plain}
		b := pack.Block(all)
		f.Add(b.Heads[5:], b.Chunks[5:], b.Texts[5:], len(all))
	}
	f.Fuzz(func(t *testing.T, heads, chunks, texts []byte, n int) {
		b := Block{Records: n, Heads: sealed(heads), Chunks: sealed(chunks), Texts: sealed(texts)}
		all, err := decode(b)
		if err != nil {
			return
		}
		count, most := 0, max(sectionBytes, len(chunks))
		for _, r := range all {
			count += len(r.Chunks)
		}
		if count > most || len(all) > BlockRecords {
			t.Fatalf("%d records with %d chunks from %d bytes", len(all), count, len(chunks))
		}
		for _, r := range all {
			if math.IsNaN(r.Accept) || math.IsNaN(r.AudioSeconds) {
				return // not equal to itself
			}
		}
		if again, err := decode(new(Packer).Block(all)); err != nil || len(again) != len(all) {
			t.Fatalf("written again: %v", err)
		}
	})
}
