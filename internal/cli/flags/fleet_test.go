package flags

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

func TestFleetFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n := func(i int) *int { return &i }
	past := -time.Second
	for _, tt := range []struct {
		f    session.Fleet
		env  string
		want string // empty: nothing is wrong
	}{
		{f: session.Fleet{}},
		{f: session.Fleet{At: "local", Workers: n(3)}},
		{f: session.Fleet{Workers: n(3)}, env: "tls://h:1"},
		{f: session.Fleet{At: "nats://t0k@h:1,nats://t0k@i:1", FleetCreds: file, FleetCert: file, FleetKey: file}},
		{f: session.Fleet{Workers: n(2)}, want: "--workers: only applies with --fleet"},
		{f: session.Fleet{Tolerate: true}, want: "--tolerate: only applies with --fleet"},
		{f: session.Fleet{FleetCA: file}, want: "--fleet-ca: only applies with --fleet"},
		{f: session.Fleet{At: "local", Workers: n(0)}, want: "--workers 0: must be from 1"},
		{f: session.Fleet{At: "local", FleetWait: &past}, want: "--fleet-wait -1s: must be from 0"},
		{f: session.Fleet{At: "local", FleetCreds: file}, want: "--fleet-creds: does not apply to a local fleet"},
		{f: session.Fleet{At: "t0ksecret@h:4222"}, want: `--fleet "h:4222": must be the URL of a NATS server`},
		{f: session.Fleet{At: "http://t0ksecret@h:4222"}, want: `--fleet "http://h:4222": must be`},
		{f: session.Fleet{At: "nats://t0ksecret@h:4222/x"}, want: `--fleet "nats://h:4222/x": must be`},
		{env: "t0ksecret@h", want: `PITOT_FLEET "h": must be`},
		{f: session.Fleet{At: "nats://h", FleetNKey: file + "x"}, want: "--fleet-nkey: open " + file + "x: no such file"},
		{f: session.Fleet{At: "nats://h", FleetCA: filepath.Dir(file)}, want: "is a folder, not a file"},
		{f: session.Fleet{At: "nats://h", FleetKey: file}, want: "--fleet-cert and --fleet-key belong together"},
	} {
		err := tt.f.Check(func(string) string { return tt.env })
		switch {
		case err == nil && tt.want != "" || err != nil && tt.want == "":
			t.Errorf("%+v: %v, want %q", tt.f, err, tt.want)
		case err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "t0k")):
			t.Errorf("%+v: %v, want %q", tt.f, err, tt.want)
		}
	}
	wait := time.Minute
	got := strings.Join(session.Fleet{At: "nats://t0k@h", Workers: n(2), FleetWait: &wait, Tolerate: true, FleetFewer: true, FleetCA: "ca"}.Words(), " ")
	if want := "--fleet nats://h --workers 2 --fleet-wait 1m0s --fleet-fewer --tolerate --fleet-ca ca"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The flags of a fleet are taken out of a line of another tool, and nothing else is.
func TestTakeFleet(t *testing.T) {
	line := "--model m --fleet nats://t@h --num-prompts 5 --workers=3 --tolerate --fleet-wait 5s --fleet-fewer --seed 1 --work 2 -- --fleet x"
	rest, f, err := TakeFleet(strings.Fields(line))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(rest, " "), "--model m --num-prompts 5 --seed 1 --work 2 -- --fleet x"; got != want {
		t.Errorf("the tool gets %q, want %q", got, want)
	}
	if f.At != "nats://t@h" || f.Workers == nil || *f.Workers != 3 || !f.Tolerate || !f.FleetFewer || f.Wait() != 5*time.Second {
		t.Errorf("taken: %+v", f)
	}
	for _, wrong := range []string{"--fleet", "--workers --seed 1", "--workers x", "--fleet-wait 5"} {
		if _, _, err := TakeFleet(strings.Fields(wrong)); err == nil || !strings.HasPrefix(err.Error(), "--") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// No tool has a flag of one of these names, which it would never see.
func TestTheFlagsOfAFleetAreNobodyElses(t *testing.T) {
	names, theirs := FleetNames(), slices.Concat(vllm.Flags(), sglang.Flags())
	if len(names) != 10 || !slices.Contains(theirs, "num-prompts") {
		t.Fatalf("%q and %q", names, theirs)
	}
	for _, name := range names {
		if slices.Contains(theirs, name) {
			t.Errorf("--%s is a flag of another tool", name)
		}
	}
}
