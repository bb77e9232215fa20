package delivery

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// fill sets everything in v that a package outside can set, to values that differ from 0 and from each
// other.
func fill(t *testing.T, v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) << 20)
	case reflect.Uint8:
		v.SetUint(uint64(*n)%254 + 1)
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(*n) * 37)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				t.Fatalf("%s.%s is not exported: nothing outside its package can deliver it", v.Type(), v.Type().Field(i).Name)
			}
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("%s: fill knows no %s", v.Type(), v.Kind())
	}
}

func full(t *testing.T) *trace.Record {
	r, n := &trace.Record{}, 0
	fill(t, reflect.ValueOf(r).Elem(), &n)
	return r
}

func TestARecordComesBackAsItWas(t *testing.T) {
	negative := full(t)
	for _, n := range numbers(negative) {
		*n = -*n
	}
	extreme := trace.NewRecord(math.MaxInt)
	extreme.Due, extreme.Usage.Prompt, extreme.Accept = math.MaxInt64, math.MinInt, math.Inf(-1)
	extreme.Chunks = []trace.Chunk{{At: math.MaxInt64}, {At: math.MinInt64, Slack: math.MaxUint32, Tokens: math.MaxUint16, Kind: math.MaxUint16}, {At: trace.Never}}
	rec := trace.NewRecord(0)
	rec.Usage.CachedReported = true
	tiers := trace.NewRecord(1)
	tiers.Usage.Tiers = &trace.CacheTiers{}
	timed := trace.NewRecord(2)
	timed.Server = &trace.ServerTimes{TTFT: new(float64)}
	for name, want := range map[string]*trace.Record{
		"all": full(t), "negative": negative, "nothing happened": trace.NewRecord(3), "zero": {}, "extreme": extreme, "told": rec, "tiers": tiers, "timed": timed,
	} {
		got, err := decodeRecord(appendRecord(nil, want))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Each field by itself: two that are exchanged, or one that follows from another, are found.
func TestEachFieldOfARecordComesBackByItself(t *testing.T) {
	all := reflect.ValueOf(full(t)).Elem()
	for i := range all.NumField() {
		want := trace.NewRecord(0)
		reflect.ValueOf(want).Elem().Field(i).Set(all.Field(i))
		got, err := decodeRecord(appendRecord(nil, want))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", all.Type().Field(i).Name, err, diff)
		}
	}
}

func TestADamagedRecordIsRefused(t *testing.T) {
	whole := appendRecord(nil, full(t))
	for n := range whole {
		if _, err := decodeRecord(whole[:n]); !errors.Is(err, errRecord) {
			t.Errorf("the first %d of %d bytes: %v", n, len(whole), err)
		}
	}
	for _, b := range [][]byte{append([]byte{0xff}, whole[1:]...), append(bytes.Clone(whole), 0)} {
		if r, err := decodeRecord(b); !errors.Is(err, errRecord) {
			t.Errorf("%v: %v", r, err)
		}
	}
}

// diff says how records differ, "" if they do not. Comparing many with cmp takes seconds.
func diff(want, got []*trace.Record) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// got is what a Handler was handed.
type got struct {
	records [][]*trace.Record
	ends    []*fleet.End
	damaged []error
	forged  [][]int // by whom
}

func newGot(shares int) *got {
	return &got{make([][]*trace.Record, shares), make([]*fleet.End, shares), make([]error, shares), make([][]int, shares)}
}

func (g *got) Record(share int, r *trace.Record) { g.records[share] = append(g.records[share], r) }
func (g *got) End(share int, e fleet.End)        { g.ends[share] = &e }
func (g *got) Damaged(share int, err error)      { g.damaged[share] = errors.Join(g.damaged[share], err) }
func (g *got) Forged(share, by int)              { g.forged[share] = append(g.forged[share], by) }

// cutAll is the messages of records and an end.
func cutAll(t testing.TB, records []*trace.Record, end *fleet.End) (messages [][]byte) {
	t.Helper()
	count := 0
	if err := new(encoder).cut(records, end, func(b []byte, n int) { messages, count = append(messages, b), count+n }); err != nil {
		t.Fatal(err)
	}
	if count != len(records) {
		t.Errorf("%d records end in %d messages, of %d", count, len(messages), len(records))
	}
	return messages
}

// longRecords returns records that fill several messages, and one that is larger than three.
func longRecords(n int) (records []*trace.Record) {
	for i := range n {
		records = append(records, sample(i, 128))
	}
	records[n/2].Text = string(bytes.Repeat([]byte("long "), messageSize*3/5+1000))
	return records
}

// Messages that come in any order, and several times, are put together once.
func TestMessagesInAnyOrderAndAgain(t *testing.T) {
	records := longRecords(300)
	probe := full(t)
	messages := cutAll(t, records, &fleet.End{Share: 0, Records: len(records), Probes: []*trace.Record{probe}})
	if len(messages) < 4 {
		t.Fatalf("%d messages", len(messages))
	}
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		order := append(rng.Perm(len(messages)), rng.Perm(len(messages))...)
		g, s := newGot(1), share{}
		for _, i := range order {
			s.receive(uint64(i+1), messages[i], g)
		}
		if diff := diff(records, g.records[0]); diff != "" || g.damaged[0] != nil {
			t.Fatalf("%v: %v %s", order, g.damaged[0], diff)
		}
		if e := g.ends[0]; e == nil || e.Records != len(records) || cmp.Diff([]*trace.Record{probe}, e.Probes) != "" {
			t.Fatalf("%v: %+v", order, e)
		}
		if len(s.ahead) > 0 || len(s.partial) > 0 || cap(s.partial) > keepBuffer {
			t.Errorf("%d messages and %d bytes of %d are kept", len(s.ahead), len(s.partial), cap(s.partial))
		}
	}
}

func TestAFrameThatCannotBe(t *testing.T) {
	good := appendRecordFrame(nil, recordFrame, full(t))
	for name, bad := range map[string][]byte{
		"too long":      {recordFrame, 0, 0, 0, 0xff},
		"unknown kind":  {77, 0, 0, 0, 0},
		"no record":     {recordFrame, 1, 0, 0, 0, 0},
		"no probe":      {probeFrame, 0, 0, 0, 0},
		"no JSON":       {endFrame, 1, 0, 0, 0, '{'},
		"damaged frame": append(bytes.Clone(good[:headSize]), bytes.Repeat([]byte{0x80}, len(good)-headSize)...),
	} {
		g, s := newGot(1), share{}
		s.receive(1, append(bytes.Clone(good), bad...), g)
		s.receive(2, good, g)
		s.receive(9, good, g)
		if len(g.records[0]) != 1 || g.damaged[0] == nil || g.ends[0] != nil || s.ahead != nil || s.partial != nil {
			t.Errorf("%s: %d records, %v, %+v", name, len(g.records[0]), g.damaged[0], s)
		}
	}
	g, s := newGot(1), share{}
	s.receive(2, good, g)
	s.receive(maxAhead+1, good, g)
	if g.damaged[0] == nil || s.ahead != nil {
		t.Errorf("a message that is too far ahead: %v", g.damaged[0])
	}
}

// Whatever arrives: no panic, and what is read is read again from what it is written as.
func FuzzShare(f *testing.F) {
	r := sample(1, 3)
	r.Usage.Tiers = &trace.CacheTiers{Host: 1, Backend: "disk"}
	r.Server = &trace.ServerTimes{}
	f.Add(appendRecordFrame(nil, recordFrame, r), 7)
	end, err := appendEnd(nil, fleet.End{Share: 1, Probes: []*trace.Record{r}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(end, 100)
	f.Add([]byte{recordFrame, 0, 0, 0, 0xff}, 3)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		at = min(max(at, 0), len(b))
		once, twice := newGot(1), newGot(1)
		new(share).receive(1, b, once)
		s := share{}
		s.receive(2, b[at:], twice)
		s.receive(1, b[:at], twice)
		if len(once.records[0]) != len(twice.records[0]) || (once.damaged[0] == nil) != (twice.damaged[0] == nil) {
			t.Errorf("%d records and %v at once, %d and %v in two", len(once.records[0]), once.damaged[0], len(twice.records[0]), twice.damaged[0])
		}
		for _, r := range once.records[0] {
			written := appendRecord(nil, r)
			again, err := decodeRecord(written)
			if err != nil || !bytes.Equal(appendRecord(nil, again), written) {
				t.Errorf("%+v: %v", r, err)
			}
		}
	})
}

// sample is a record as an answer over a network gives it, the same for the same arguments.
func sample(index, chunks int) *trace.Record {
	rng := rand.New(rand.NewPCG(uint64(index), uint64(chunks)))
	r := trace.NewRecord(index)
	at := trace.Instant(index) * 1_000_000
	r.ID, r.PromptTokens, r.WantTokens = fmt.Sprintf("20261124-173000-abcd-%d", index), 512, chunks
	r.Due, r.Released, r.Sent, r.FirstByte = at, at+5_000, at+40_000, at+60_000_000
	at = r.FirstByte
	for range chunks {
		at += trace.Instant(20e6 + rng.IntN(10e6))
		r.Chunks = append(r.Chunks, trace.Chunk{At: at, Tokens: 1, Kind: trace.Text})
	}
	r.Done, r.Stamps, r.Status, r.FinishReason = at+10_000, trace.KernelStamps, 200, "length"
	r.Usage = trace.Usage{Prompt: 512, Completion: chunks, Cached: 256, CachedReported: true, At: at}
	r.OutputTokens, r.CountedFrom = chunks, trace.FromUsage
	return r
}
