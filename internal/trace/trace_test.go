package trace

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestKindOutput(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind Kind
		want bool
	}{
		{"text", Text, true},
		{"reasoning", Reasoning, true},
		{"tool call", ToolCall, true},
		{"token without visible text", 0, true},
		{"that, in one read with another", Coalesced, true},
		{"opening role chunk", Role, false},
		{"role with text", Role | Text, true},
		{"finish reason alone", Finish, false},
		{"last token with its finish reason", Finish | Text, true},
	} {
		if got := tt.kind.Output(); got != tt.want {
			t.Errorf("%s: Output() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestRecordOutput(t *testing.T) {
	r := NewRecord(0)
	if first, last, n := r.Output(); first != Never || last != Never || n != 0 {
		t.Errorf("no chunks: %v %v %d", first, last, n)
	}
	r.Chunks = []Chunk{{At: 1, Kind: Role}, {At: 5, Kind: Text}, {At: 9}, {At: 12, Kind: Finish}}
	if first, last, n := r.Output(); first != 5 || last != 9 || n != 2 {
		t.Errorf("got %v %v %d, want 5 9 2", first, last, n)
	}
}

func TestEveryClassIsExplained(t *testing.T) {
	seen := map[Class]bool{}
	for _, c := range Classes() {
		if c.Explain() == "" || seen[c] {
			t.Errorf("class %q has no explanation or stands twice", c)
		}
		seen[c] = true
	}
	if len(explanations) != len(seen) {
		t.Errorf("%d explanations for %d classes", len(explanations), len(seen))
	}
}

func drawChunks(t *rapid.T) []Chunk {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) Chunk {
		return Chunk{
			At:     Instant(rapid.Int64Range(0, 1<<50).Draw(t, "at")),
			Tokens: rapid.Int32Range(0, 1<<30).Draw(t, "tokens"),
			Kind:   Kind(rapid.Byte().Draw(t, "kind")),
		}
	})).Draw(t, "chunks")
}

func TestChunksRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawChunks(t)
		got, err := DecodeChunks(AppendChunks(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 && !cmp.Equal(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func TestRecordJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := NewRecord(rapid.IntRange(0, 1e6).Draw(t, "index"))
		want.ID = rapid.String().Draw(t, "id")
		want.Due = Instant(rapid.Int64Range(-1, 1<<40).Draw(t, "due"))
		want.Usage = Usage{Prompt: 3, Completion: 4, At: Instant(rapid.Int64Range(-1, 9).Draw(t, "usage"))}
		want.Chunks = drawChunks(t)
		want.Class = Reset
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := new(Record)
		if err := json.Unmarshal(b, got); err != nil {
			t.Fatal(err)
		}
		if len(want.Chunks) == 0 {
			want.Chunks = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestRecordJSONAbsentInstantsAreNever(t *testing.T) {
	r := new(Record)
	if err := json.Unmarshal([]byte(`{"index":7,"sent_ns":null}`), r); err != nil {
		t.Fatal(err)
	}
	if r.Sent != Never || r.Due != Never || r.Usage.At != Never || r.Index != 7 {
		t.Errorf("got %+v", r)
	}
	if err := json.Unmarshal([]byte(`{"chunk_at_ns":[1],"chunk_tokens":[],"chunk_kinds":[0]}`), r); err == nil {
		t.Error("arrays of different length were accepted")
	}
}

func FuzzDecodeChunks(f *testing.F) {
	f.Add(AppendChunks(nil, []Chunk{{At: 5, Tokens: 1, Kind: Text}, {At: 30e6}}))
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		chunks, err := DecodeChunks(b)
		if err != nil {
			return
		}
		again, err := DecodeChunks(AppendChunks(nil, chunks))
		if err != nil || !cmp.Equal(chunks, again) {
			t.Fatalf("%v, %v -> %v", err, chunks, again)
		}
	})
}
