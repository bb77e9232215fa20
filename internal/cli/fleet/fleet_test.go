package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// The flags of a fleet are taken out of a line of another tool, and nothing else is.
func TestTake(t *testing.T) {
	line := "--model m --fleet nats://t@h --num-prompts 5 --workers=3 --tolerate --fleet-wait 5s --fleet-fewer --seed 1 --work 2 -- --fleet x"
	rest, f, err := Take(strings.Fields(line))
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
		if _, _, err := Take(strings.Fields(wrong)); err == nil || !strings.HasPrefix(err.Error(), "--") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// No tool has a flag of one of these names, which it would never see.
func TestTakeIsInNobodysWay(t *testing.T) {
	var theirs []string
	for _, all := range [][]string{flagNames(vllm.Help()), flagNames(sglang.Help(nil))} {
		theirs = append(theirs, all...)
	}
	if len(theirs) < 50 {
		t.Fatalf("only %d flags of other tools were found", len(theirs))
	}
	for _, name := range flagNames(Help()) {
		if slices.Contains(theirs, name) {
			t.Errorf("%s is a flag of another tool", name)
		}
	}
}

func flagNames(help string) (names []string) {
	for word := range strings.FieldsSeq(help) {
		if name := strings.TrimRight(strings.SplitN(word, "=", 2)[0], ",.;:"); strings.HasPrefix(name, "--") {
			names = append(names, name)
		}
	}
	return names
}

func TestStatusTable(t *testing.T) {
	worker := func(name, version string, state fleet.State) control.Seen {
		return control.Seen{
			Worker:    fleet.Worker{Name: name, Host: "h", Pitot: version, Protocol: fleet.Protocol, State: state, CPUs: 8, Files: 1 << 20},
			RoundTrip: 1234567, Bound: 456789, WallAhead: -1500 * time.Millisecond,
		}
	}
	busy := worker("b\nINJECTED\x1b[2J", "v1", fleet.Sending)
	busy.Run, busy.Zone, busy.Capacity = "20261124-120000-abcd", "rack", 123456
	var out bytes.Buffer
	if err := writeTable(&out, []control.Seen{worker("a", "v2", fleet.Idle), busy}, "v2"); err != nil {
		t.Fatal(err)
	}
	want := `WORKER           ZONE  HOST  VERSION  STATE                         CPUS  FILES    CHUNKS/S  ROUND TRIP  CLOCK   WALL CLOCK
a                -     h     v2       idle                          8     1048576  -         1.23ms      ±457µs  -1.500 s
b INJECTED�[2J  rack  h     v1 *     sending 20261124-120000-abcd  8     1048576  120000    1.23ms      ±457µs  -1.500 s

* not the version of this program, v2: such a worker takes no run from it
`
	if got := out.String(); strings.Contains(got, "\nINJECTED") || strings.Count(got, "\n") != 5 || !strings.Contains(got, "v1 *") || !strings.Contains(got, strings.Split(want, "\n")[1][16:]) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A token is made once, is nobody else's to read, and a variable has precedence.
func TestToken(t *testing.T) {
	dir, env := t.TempDir(), map[string]string{}
	con := &console.Console{Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	first, own, err := tokenIn(con, dir)
	if err != nil || own || len(first) != 32 {
		t.Fatal(first, own, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again, _, err := tokenIn(con, dir); err != nil || again != first {
		t.Errorf("the second time %q, %v", again, err)
	}
	env["PITOT_FLEET_TOKEN"] = "mine"
	if token, own, err := tokenIn(con, dir); token != "mine" || !own || err != nil {
		t.Error(token, own, err)
	}
}

// What is printed to be typed on other machines leads there, and has the token if it was made here.
func TestWhereOthersJoin(t *testing.T) {
	for _, tt := range []struct {
		url  string
		own  bool
		want string
	}{
		{"nats://127.0.0.1:4222", false, "nats://t0k@127.0.0.1:4222"},
		{"tls://0.0.0.0:4222", false, "tls://t0k@host:4222"},
		{"nats://[::]:4222", true, "nats://host:4222"},
	} {
		u := serving{url: tt.url, token: "t0k", own: tt.own}
		if got := u.at("host", true); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.url, got, tt.want)
		}
	}
}
