package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"

	"github.com/pitot-bench/pitot/internal/test/devices"
)

// within makes a collector of a fake within this process.
func within(t testing.TB, program, host string, f devices.Fake) *Devices {
	t.Helper()
	d, err := NewSMI(program, host)
	if err != nil {
		t.Fatal(err)
	}
	d.Start = func(args []string) (collect.Process, error) { return f.Start(args), nil }
	d.Ask = func(_ context.Context, args ...string) (string, error) { return f.Ask(args...) }
	return d
}

// ramp is a power that rises from 100 W to 300 W between 10 s and 40 s, and falls at once at 50 s.
func ramp(from time.Time) devices.Curve {
	return devices.Curve{From: from, Corners: []devices.Corner{{W: 100}, {At: 10 * time.Second, W: 100}, {At: 40 * time.Second, W: 300}, {At: 50 * time.Second, W: 300}, {At: 50*time.Second + 1, W: 120}}}
}

// Each sample of a minute equals the power at its instant to what the program rounds and the
// bound of the clock allows, and the trapezoids over the rise are its energy to 0.5 %.
func TestSamplesAreTheTruth(t *testing.T) {
	for _, x := range []struct {
		program, host string
		points        int
		own           bool
	}{{"nvidia-smi", "", 61, true}, {"nvidia-smi", "gpu1", 61, true}, {"npu-smi", "", 61, false}, {"amd-smi", "gpu1", 61, false}} {
		t.Run(x.program+x.host, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				zero := time.Now()
				f := devices.Fake{Devices: 2, Power: ramp(zero), Busy: 75, Offset: -37 * time.Minute * time.Duration(len(x.host))}
				f.Power.From = zero.Add(f.Offset) // the curve is by the clock of the host
				g := collect.Start(t.Context(), time.Second, []collect.Collector{within(t, x.program, x.host, f)})
				time.Sleep(60*time.Second + time.Millisecond)
				set := g.End(zero)
				source := set.Sources[0]
				if len(source.Notes) != 0 || source.Lost != 0 || source.Clock.Own != x.own || source.Clock.Bound > time.Second {
					t.Errorf("%+v", source)
				}
				power := set.Named(telemetry.DevicePower)[0]
				if len(power.Points) != x.points {
					t.Fatalf("%d points", len(power.Points))
				}
				f.Power.From = zero
				for _, p := range power.Points {
					truth := f.Power.Watts(zero.Add(p.At))
					if x.program == "nvidia-smi" { // the mean of the last second
						truth = f.Power.Joules(zero.Add(p.At-time.Second), zero.Add(p.At))
					}
					if math.Abs(p.Value-truth) > 0.51 && p.At.Round(time.Second) != 50*time.Second {
						t.Errorf("%v W at %v, want %v", p.Value, p.At, truth)
					}
				}
				points, sum := power.Between(9*time.Second, 46*time.Second), 0.0
				for i := 1; i < len(points); i++ {
					sum += (points[i].Value + points[i-1].Value) / 2 * (points[i].At - points[i-1].At).Seconds()
				}
				shift := time.Duration(0)
				if x.program == "nvidia-smi" {
					shift = time.Second / 2
				}
				truth := f.Power.Joules(zero.Add(points[0].At-shift), zero.Add(points[len(points)-1].At-shift))
				if off := sum/truth - 1; math.Abs(off) > 0.005 {
					t.Errorf("%v J, off by %.2f %%", sum, 100*off)
				}
				if n := len(set.Named(telemetry.DevicePower)); x.program == "npu-smi" && n != 1 || x.program != "npu-smi" && n != 2 {
					t.Errorf("%d devices tell power", n)
				}
				if u := set.Named(telemetry.DeviceUtilization); len(u) != 2 || u[0].Points[0].Value != 0.75 {
					t.Error("utilization", u)
				}
			})
		})
	}
}

// Versions without the newer fields and flags are asked for less.
func TestOlderVersions(t *testing.T) {
	for _, program := range Programs() {
		t.Run(program, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				zero := time.Now()
				f := devices.Fake{Old: true, Power: ramp(zero)}
				g := collect.Start(t.Context(), time.Second, []collect.Collector{within(t, program, "", f)})
				time.Sleep(5500 * time.Millisecond)
				set := g.End(zero)
				if len(set.Sources[0].Notes) != 0 || len(set.Named(telemetry.DevicePower)) != 1 || len(set.Named(telemetry.DevicePower)[0].Points) != 6 {
					t.Errorf("%+v, %v", set.Sources, set.Series)
				}
			})
		})
	}
}

// A connection that is refused at first costs some samples, and not the fields of the newer
// version.
func TestRefusedAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := devices.Fake{}
		d := within(t, "nvidia-smi", "gpu1", f)
		begun := time.Now()
		refused := errors.New("exit status 255: connection refused")
		d.Start = func(args []string) (collect.Process, error) {
			if time.Since(begun) < time.Second {
				return nil, refused
			}
			return f.Start(args), nil
		}
		d.Ask = func(_ context.Context, args ...string) (string, error) {
			if time.Since(begun) < time.Second {
				return "", refused
			}
			return f.Ask(args...)
		}
		g := collect.Start(t.Context(), time.Second, []collect.Collector{d})
		time.Sleep(5500 * time.Millisecond)
		set := g.End(begun)
		if got := smiCodes(set.Sources[0].Notes); len(got) != 1 || got[0] != string(collect.Exited) || len(set.Named(telemetry.DeviceThrottled)) != len(smiReasons) {
			t.Error(set.Sources[0].Notes, set.Series)
		}
	})
}

// Another program on the device shows within 10 s, and at once if it is there from the start: also if
// the programs are listed before there is a sample that says which devices there are.
func TestOtherProgramsShow(t *testing.T) {
	for _, delay := range []time.Duration{0, 800 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			zero := time.Now()
			g := collect.Start(t.Context(), time.Second, []collect.Collector{within(t, "nvidia-smi", "", devices.Fake{Devices: 2, Others: 3, Delay: delay})})
			time.Sleep(2500 * time.Millisecond)
			got := g.End(zero).Named(telemetry.DeviceProcesses)
			if len(got) != 2 || got[0].Points[0].Value != 3 || got[1].Points[0].Value != 0 {
				t.Errorf("after %v: %v", delay, got)
			}
		})
	}
}

func smiCodes(notes []plan.Message) (all []string) {
	for _, n := range notes {
		all = append(all, string(n.Code))
	}
	return all
}

// What a program can do wrong is a note, each kind once; the samples around it stay.
func TestTroubles(t *testing.T) {
	for _, x := range []struct {
		then   devices.Then
		notes  string
		points [2]int // at least and at most, in a minute
	}{
		{devices.Hang, "telemetry.silent", [2]int{12, 16}},
		{devices.Die, "telemetry.exited", [2]int{18, 40}},
		{devices.Garbage, "telemetry.unreadable telemetry.silent", [2]int{12, 16}},
		{devices.Long, "telemetry.unreadable", [2]int{60, 61}},
	} {
		t.Run(string(x.then), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				zero := time.Now()
				g := collect.Start(t.Context(), time.Second, []collect.Collector{within(t, "nvidia-smi", "", devices.Fake{Samples: 4, Then: x.then})})
				time.Sleep(time.Minute)
				set := g.End(zero)
				n := len(set.Named(telemetry.DevicePower)[0].Points)
				if got := strings.Join(smiCodes(set.Sources[0].Notes), " "); got != x.notes || n < x.points[0] || n > x.points[1] {
					t.Errorf("%s, %d points", got, n)
				}
			})
		})
	}
}

// A program that never prints a value is given up, with its words; a missing one too.
func TestNothingAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := devices.Fake{Text: "NVIDIA-SMI has failed because it couldn't communicate with the driver."}
		g := collect.Start(t.Context(), time.Second, []collect.Collector{within(t, "nvidia-smi", "", f)})
		time.Sleep(5 * time.Minute)
		set := g.End(time.Now())
		if got := smiCodes(set.Sources[0].Notes); len(got) != 2 || got[1] != string(collect.Ended) || len(set.Series) != 0 {
			t.Error(set.Sources[0].Notes)
		}
	})
}

// Real processes, here and through an ssh that leads here: the first line comes late, then they
// hang, are ended, and started again.
func TestSlowThenHanging(t *testing.T) {
	for i, program := range Programs() {
		host := []string{"", "gpu1"}[i%2]
		t.Run(collect.Name(program, host), func(t *testing.T) {
			starts := filepath.Join(t.TempDir(), "starts")
			devices.Install(t, devices.Fake{
				Delay: 150 * time.Millisecond, Period: 20 * time.Millisecond, Samples: 3, Then: devices.Hang, Starts: starts,
				Power: devices.Curve{Corners: []devices.Corner{{W: 321}}},
			})
			d, err := NewSMI(program, host)
			if err != nil {
				t.Fatal(err)
			}
			d.Feed.Between, d.Feed.Wait = 500*time.Millisecond, time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			points, troubles := 0, []string{}
			err = d.Collect(ctx, time.Second, func(r collect.Reading) {
				if !r.Trouble.IsZero() {
					troubles = append(troubles, fmt.Sprint(r.Trouble.Code))
				}
				for _, v := range r.Values {
					if v.Name == telemetry.DevicePower && v.Value == 321 {
						points++
					}
				}
				if points > 3 { // of the second process
					cancel()
				}
			})
			if err != nil || len(troubles) == 0 || troubles[0] != string(collect.Silent) || points < 4 {
				t.Errorf("%v, troubles %v, %d points", err, troubles, points)
			}
			if log, _ := os.ReadFile(starts); strings.Count(string(log), "--query-gpu=timestamp")+strings.Count(string(log), "watch") != 1+len(troubles) {
				t.Errorf("starts:\n%s", log)
			}
		})
	}
}

// BenchmarkLine is what a sample of 8 devices costs: 8 lines, read once a second.
func BenchmarkLine(b *testing.B) {
	f := devices.Fake{Devices: 8}
	forms := nvidia.forms(time.Second, func(args ...string) string { out, _ := f.Ask(args...); return out })
	p := f.Start(forms[0].args)
	defer func() { _ = p.End() }()
	var lines []collect.Line
	for len(lines) < 8 {
		line, _, err := p.Line()
		if err != nil {
			b.Fatal(err)
		}
		if string(line) == collect.Ready {
			continue
		}
		lines = append(lines, collect.Line{Text: string(line), At: time.Now()})
	}
	l := listener{form: forms[0], clock: collect.Clock{Same: true}, give: func(collect.Reading) {}}
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if l.line(line) != collect.Good {
				b.Fatal(line)
			}
		}
	}
}
