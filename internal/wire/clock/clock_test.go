package clock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestInstantsOfBothClocksAgree(t *testing.T) {
	c := New()
	for range 100 {
		before, wall, after := c.Now(), time.Now().UnixNano(), c.Now()
		if got := c.FromWall(wall); got < before-1000 || got > after+1000 {
			t.Errorf("the wall clock says %d, between %d and %d", got, before, after)
		}
	}
}

func TestStepsAreCounted(t *testing.T) {
	c := New()
	offset := c.offset.Load()
	for _, step := range []time.Duration{30, -20, 3 * time.Second, -time.Minute, 999} {
		offset += int64(step)
		c.adopt(offset, 100)
	}
	if got := c.Steps(); got.Count != 2 || got.Largest != -time.Minute {
		t.Errorf("%+v, want the two of more than a microsecond", got)
	}
	if got := c.FromWall(offset + 5); got != 5 {
		t.Errorf("instant %d by the newest offset, want 5", got)
	}
}

// On a machine with clocks that are slow to read a step is still detected, if it is
// larger than the uncertainty.
func TestStepsAreCountedBySlowClocks(t *testing.T) {
	c := New()
	offset := c.offset.Load()
	c.adopt(offset+int64(5*time.Microsecond), 3*time.Microsecond)
	if got := c.Steps(); got.Count != 0 || c.offset.Load() != offset {
		t.Errorf("%+v and an offset %d off, of a measurement that is no better", got, c.offset.Load()-offset)
	}
	c.adopt(offset+int64(time.Second), 3*time.Microsecond)
	if got := c.Steps(); got.Count != 1 || c.offset.Load() != offset+int64(time.Second) {
		t.Errorf("%+v, offset %d off", got, c.offset.Load()-offset)
	}
}

func TestWatchMeasuresEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		c.offset.Add(int64(time.Second)) // as if the wall clock had been set back since
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		c.Watch(ctx)
		if got := c.Steps(); got.Count != 1 || got.Largest != -time.Second {
			t.Errorf("%+v, want one step of a second", got)
		}
	})
}

func TestTimers(t *testing.T) {
	for name, timer := range map[string]*Timer{"the runtime's": NewTimer(), "precise": NewPrecise()} {
		for range 3 {
			start := time.Now()
			timer.Reset(200 * time.Microsecond)
			<-timer.C
			if took := time.Since(start); took < 200*time.Microsecond {
				t.Errorf("%s: fired after %v", name, took)
			}
		}
		timer.Reset(time.Hour)
		timer.Reset(-time.Second)
		<-timer.C
		timer.Close()
	}
}

func TestAnAlarmGoesOffOnTimeOrWhenItIsRung(t *testing.T) {
	for name, alarm := range map[string]*Alarm{"the runtime's": newRuntimeAlarm(), "the system's": NewAlarm()} {
		for range 3 {
			start := time.Now()
			alarm.Wait(200 * time.Microsecond)
			if took := time.Since(start); took < 200*time.Microsecond {
				t.Errorf("%s: went off after %v", name, took)
			}
		}
		alarm.Wait(-time.Second)
		alarm.Ring() // counts for the next wait
		alarm.Ring()
		alarm.Wait(time.Hour)
		rang := make(chan struct{})
		for range 100 {
			go func() {
				alarm.Ring()
				rang <- struct{}{}
			}()
			alarm.Wait(time.Hour)
			<-rang
		}
		go alarm.Close()
		alarm.Wait(time.Hour)
		alarm.Wait(time.Hour)
		alarm.Ring()
	}
}

func TestAnAlarmAllocatesNothing(t *testing.T) {
	alarm := NewAlarm()
	defer alarm.Close()
	if n := testing.AllocsPerRun(100, func() {
		alarm.Ring()
		alarm.Wait(time.Microsecond)
		alarm.Wait(time.Microsecond)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Lateness of an alarm in an idle process.
func BenchmarkAlarmLateness(b *testing.B) {
	alarm := NewAlarm()
	defer alarm.Close()
	var late time.Duration
	for b.Loop() {
		start := time.Now()
		alarm.Wait(300 * time.Microsecond)
		late += time.Since(start) - 300*time.Microsecond
	}
	b.ReportMetric(float64(late.Microseconds())/float64(b.N), "µs-late/op")
}

// Lateness of a timer in an idle process.
func BenchmarkTimerLateness(b *testing.B) {
	for name, timer := range map[string]*Timer{"runtime": NewTimer(), "precise": NewPrecise()} {
		b.Run(name, func(b *testing.B) {
			var late time.Duration
			for b.Loop() {
				start := time.Now()
				timer.Reset(300 * time.Microsecond)
				<-timer.C
				late += time.Since(start) - 300*time.Microsecond
			}
			b.ReportMetric(float64(late.Microseconds())/float64(b.N), "µs-late/op")
		})
		timer.Close()
	}
}
