package trace

import (
	"encoding/json"
	"reflect"
	"strings"
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

func TestClassesStandOnce(t *testing.T) {
	seen := map[Class]bool{}
	for _, c := range Classes() {
		if seen[c] {
			t.Errorf("class %q stands twice", c)
		}
		seen[c] = true
	}
}

func drawChunks(t *rapid.T) []Chunk {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) Chunk {
		return Chunk{
			At:     Instant(rapid.Int64Range(0, 1<<50).Draw(t, "at")),
			Slack:  rapid.Uint32().Draw(t, "slack") >> rapid.IntRange(0, 32).Draw(t, "magnitude"),
			Tokens: rapid.Uint16().Draw(t, "tokens"),
			Kind:   Kind(rapid.Uint16().Draw(t, "kind")),
		}
	})).Draw(t, "chunks")
}

func TestChunksRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawChunks(t)
		got, err := DecodeOnto(nil, AppendChunks(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 && !cmp.Equal(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

// Records stored before chunks had slack can be read.
func TestChunksOfOldStores(t *testing.T) {
	old := []byte{200, 1, 3, byte(Text | Coalesced), 20, 0, byte(Finish), 2, 0xff, 0xff, 0xff, 0xff, 0x0f, byte(Text)}
	want := []Chunk{{At: 100, Tokens: 3, Kind: Text | Coalesced}, {At: 110, Kind: Finish}, {At: 111, Tokens: 65535, Kind: Text}}
	got, err := DecodeOnto(nil, old)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestAChunkTakesSixteenBytes(t *testing.T) {
	if got := reflect.TypeFor[Chunk]().Size(); got != 16 {
		t.Errorf("%d bytes", got)
	}
}

// Of the chunks of one read all but the last have no timestamp of their own.
func TestMergedChunks(t *testing.T) {
	for _, tt := range []struct {
		stamps Stamps
		chunks []Chunk
		merged int
	}{
		{KernelStamps, []Chunk{{Slack: 7}, {Slack: 7, Kind: Coalesced}, {Kind: Coalesced}}, 2},
		{UserStamps, []Chunk{{}, {Kind: Coalesced}, {Kind: Coalesced}}, 2},
		{KernelStamps, []Chunk{{Slack: 7, Kind: Bundled}, {Kind: Coalesced | Bundled}}, 0},
	} {
		r, n := Record{Stamps: tt.stamps}, 0
		for _, c := range tt.chunks {
			if r.Merged(c) {
				n++
			}
		}
		if n != tt.merged {
			t.Errorf("%s %v: %d merged, want %d", tt.stamps, tt.chunks, n, tt.merged)
		}
	}
}

func TestRecordJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := NewRecord(rapid.IntRange(0, 1e6).Draw(t, "index"))
		want.ID = rapid.String().Draw(t, "id")
		want.Due = Instant(rapid.Int64Range(-1, 1<<40).Draw(t, "due"))
		want.Usage = Usage{Prompt: 3, Completion: 4, At: Instant(rapid.Int64Range(-1, 9).Draw(t, "usage"))}
		want.Chunks = drawChunks(t)
		want.Class = Reset
		want.Marks, want.Defects = marked(t, testMarker, nil, strings.Repeat(rapid.String().Draw(t, "answer"), 50))
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

func FuzzDigest(f *testing.F) {
	m, _ := marked(f, testMarker, nil, "the Pitot", "hm", " tube")
	f.Add(string(m))
	f.Fuzz(func(t *testing.T, marks string) {
		if d, err := Marks(marks).Digest(); err == nil && d.Common(d) != d.Bytes {
			t.Fatalf("%x: %+v", marks, d)
		}
	})
}

func FuzzDecodeChunks(f *testing.F) {
	f.Add(AppendChunks(nil, []Chunk{{At: 5, Tokens: 1, Kind: Text}, {At: 30e6}}))
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		chunks, err := DecodeOnto(nil, b)
		if err != nil {
			return
		}
		again, err := DecodeOnto(nil, AppendChunks(nil, chunks))
		if err != nil || !cmp.Equal(chunks, again) {
			t.Fatalf("%v, %v -> %v", err, chunks, again)
		}
	})
}
