package transport

import (
	"testing"
	"time"
)

// load is what a poller sees in a window.
type load struct {
	events, merged, streams int
	pieces                  int
	pause                   time.Duration // between outputs, of half the events; 0: none is known
	shorter                 int           // of these, as many pauses of nothing
	answer                  time.Duration // that of those which end in the window; 0: none does
	patient                 bool
}

// paced runs windows of a load from an instant on, and returns the instant behind them and in how many of the windows
// the poller is lazy after their end.
func paced(p *pace, now int64, windows int, l load) (end int64, lazy int) {
	for range windows {
		p.decide(now, l.streams, l.patient) // the first call begins a window
		now += int64(paceWindow)
		p.events += l.events
		for i := range l.events / 2 {
			if i < l.shorter {
				p.paused(0)
			} else if l.pause > 0 {
				p.paused(int64(l.pause))
			}
		}
		if p.lazy {
			p.merged += l.merged
			p.pieces += l.pieces
		}
		if l.answer > 0 {
			p.ended(now, int64(l.answer))
		}
		if p.decide(now, l.streams, l.patient); p.lazy {
			lazy++
		}
	}
	return now, lazy
}

const started = int64(time.Hour)

func TestWhenAPollerIsLazy(t *testing.T) {
	const window = int(paceWindow / time.Millisecond)
	for _, tt := range []struct {
		name string
		load load
		want bool
	}{
		{"much comes", load{events: 10 * window, streams: 500, answer: time.Second}, true},
		{"just enough comes", load{events: manyEvents * window, streams: 500, answer: time.Second}, true},
		{"little comes", load{events: manyEvents*window - 1, streams: 500, answer: time.Second}, false},
		{"nothing comes", load{streams: 500}, false},
		{"nobody is there", load{events: 10 * window}, false},
		{"pauses are just long enough", load{events: 10 * window, streams: 100, answer: time.Second}, true},
		{"pauses are short", load{events: 10 * window, streams: 99, answer: time.Second}, false},
		{
			"pauses are short, with patience", load{events: 10 * window, streams: 99, answer: time.Second, patient: true}, false,
		},
		{"little comes in a long sleep", load{events: window/2 - 1, streams: 500, patient: true}, false},
		{"just enough comes in a long sleep", load{events: window / 2, streams: 500, patient: true}, true},
		{
			"outputs follow each other slowly enough",
			load{events: 2 * window, streams: 1, pause: 1500 * time.Microsecond, patient: true},
			true,
		},
		{
			"outputs follow each other fast",
			load{events: 10 * window, streams: 500, pause: 1400 * time.Microsecond, patient: true},
			false,
		},
		{
			"a few outputs follow each other at once",
			load{events: 20 * window, streams: 500, pause: time.Second, shorter: 1, patient: true},
			true,
		},
		{
			"some outputs follow each other at once",
			load{events: 20 * window, streams: 500, pause: time.Second, shorter: 2, patient: true},
			false,
		},
		{"answers are just long enough", load{events: 10 * window, streams: 500, answer: shortAnswer}, true},
		{"answers are short", load{events: 10 * window, streams: 500, answer: shortAnswer - 1}, false},
		{
			"answers are short, with patience",
			load{events: 10 * window, streams: 500, answer: shortAnswer - 1, patient: true},
			true,
		},
		{"answers have not ended yet", load{events: 10 * window, streams: 500}, true},
	} {
		var p pace
		if _, lazy := paced(&p, started, 5, tt.load); lazy != map[bool]int{false: 0, true: 5}[tt.want] {
			t.Errorf("%s: lazy after %d of 5 windows", tt.name, lazy)
		}
	}
}

// A window that is not over decides nothing.
func TestAPaceLooksAtWholeWindows(t *testing.T) {
	var p pace
	p.decide(started, 500, true)
	p.events = 1 << 20
	if p.decide(started+int64(paceWindow)-1, 1<<20, true); p.lazy || p.events == 0 {
		t.Error("it decides before the end of the window")
	}
	if p.decide(started+int64(paceWindow), 1<<20, true); !p.lazy || p.events != 0 {
		t.Error("it does not decide at the end of the window")
	}
}

// A load at the limit does not change the pace with each window.
func TestAPaceHasHysteresis(t *testing.T) {
	const window = int(paceWindow / time.Millisecond)
	var p pace
	now, _ := paced(&p, started, 1, load{events: manyEvents * window, streams: 500})
	now, lazy := paced(&p, now, 5, load{events: manyEvents * window * 3 / 4, streams: 500})
	if lazy != 5 {
		t.Errorf("with three quarters of what made it lazy it is for %d of 5 windows", lazy)
	}
	now, lazy = paced(&p, now, 5, load{events: manyEvents*window*3/4 - 1, streams: 500})
	if lazy != 0 {
		t.Errorf("with less it is lazy for %d of 5 windows", lazy)
	}
	if _, lazy = paced(&p, now, 5, load{events: manyEvents * window * 3 / 4, streams: 500}); lazy != 0 {
		t.Errorf("with three quarters again it is lazy for %d of 5 windows", lazy)
	}
}

// Tokens that share a read because the poller slept make it eager, for longer each time.
func TestMergedReadsMakeAPaceWary(t *testing.T) {
	busy := load{events: 10_000, streams: 10_000, merged: 6}
	var p pace
	now, lazy := paced(&p, started, 1, busy)
	if lazy != 1 {
		t.Fatal("it is not lazy under much load")
	}
	for wait := waryWindows; wait <= 4*waryWindows; wait *= 2 {
		if now, lazy = paced(&p, now, wait-1, busy); lazy != 0 {
			t.Errorf("it is lazy %d times within %d windows", lazy, wait)
		}
		if now, lazy = paced(&p, now, 1, busy); lazy != 1 {
			t.Errorf("it is still eager after %d windows", wait)
		}
	}
	few := busy
	few.merged = 5 // not more than that share
	p = pace{}
	if _, lazy := paced(&p, started, 10, few); lazy != 10 {
		t.Errorf("with few merged reads it is lazy for %d of 10 windows", lazy)
	}
}

// A server may hold a piece of a token back until the one before it is read.
func TestTokensInPiecesKeepAPaceEager(t *testing.T) {
	busy := load{events: 10_000, streams: 10_000, pieces: 1000}
	var p pace
	now, lazy := paced(&p, started, 10, busy)
	if lazy != 10 {
		t.Errorf("with few pieces it is lazy for %d of 10 windows", lazy)
	}
	busy.pieces++
	if _, lazy = paced(&p, now, 1000, busy); lazy != 0 {
		t.Errorf("with many pieces it is lazy for %d windows", lazy)
	}
}

// A poller sleeps for two thirds of the shortest pauses between outputs, or where none are known for a tenth of the mean
// time between reads, within limits, and for the shortest time in its first window or if something waits.
func TestHowLongAPollerSleeps(t *testing.T) {
	const events = 10_000
	for _, tt := range []struct {
		reads, pause time.Duration
		patient      bool
		want         time.Duration
	}{
		{10 * time.Millisecond, 0, true, time.Millisecond},
		{25 * time.Millisecond, 0, true, 2500 * time.Microsecond},
		{40 * time.Millisecond, 0, true, 4 * time.Millisecond},
		{time.Second, 0, true, 4 * time.Millisecond},
		{time.Second, 0, false, time.Millisecond},
		{10 * time.Millisecond, 3 * time.Millisecond, true, 2 * time.Millisecond},
		{10 * time.Millisecond, 6 * time.Millisecond, true, 4 * time.Millisecond},
		{10 * time.Millisecond, time.Second, true, 4 * time.Millisecond},
		{10 * time.Millisecond, time.Second, false, time.Millisecond},
		{time.Second, 3 * time.Millisecond, true, 2 * time.Millisecond},
	} {
		var p pace
		streams := int(tt.reads * events / paceWindow)
		l := load{events: events, streams: streams, pause: tt.pause, patient: tt.patient}
		now, _ := paced(&p, started, 1, l)
		if !p.lazy || p.sleep != time.Millisecond {
			t.Errorf("pauses of %v and %v, patient %v: it is lazy %v and first sleeps for %v", tt.reads, tt.pause, tt.patient,
				p.lazy, p.sleep)
		}
		if paced(&p, now, 1, l); !p.lazy || p.sleep != tt.want {
			t.Errorf("pauses of %v and %v, patient %v: it is lazy %v and sleeps for %v, want %v", tt.reads, tt.pause,
				tt.patient, p.lazy, p.sleep, tt.want)
		}
	}
}

// The duration of answers is a mean of the latest, and the time since the last one counts.
func TestAPaceFollowsTheDurationOfAnswers(t *testing.T) {
	var p pace
	busy := load{events: 10_000, streams: 10_000, answer: time.Second}
	now, _ := paced(&p, started, 10, busy)
	busy.answer = time.Millisecond
	now, lazy := paced(&p, now, 40, busy)
	if lazy == 0 || lazy > 25 || p.lazy {
		t.Errorf("after long answers it is lazy for %d of 40 windows with short ones, at the end %v", lazy, p.lazy)
	}
	busy.answer = 0
	if _, lazy = paced(&p, now, 2, busy); lazy != 2 {
		t.Errorf("while no answer ends it is lazy for %d of 2 windows", lazy)
	}
}

// A read without a timestamp of the kernel's has that of its end, which a sleep would delay.
func TestAPaceWithoutTimestampsIsEager(t *testing.T) {
	busy := load{events: 10_000, streams: 10_000}
	var p pace
	now, lazy := paced(&p, started, 3, busy)
	p.bare = 1
	if _, after := paced(&p, now, waryWindows, busy); lazy != 3 || after != 1 {
		t.Errorf("it is lazy for %d of 3 windows, and after one read without a timestamp for %d of %d", lazy, after,
			waryWindows)
	}
}
