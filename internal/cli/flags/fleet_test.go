package flags

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFleetFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n := func(i int) *int { return &i }
	past := -time.Second
	for _, tt := range []struct {
		f    Fleet
		env  string
		want string // empty: nothing is wrong
	}{
		{f: Fleet{}},
		{f: Fleet{At: "local", Workers: n(3)}},
		{f: Fleet{Workers: n(3)}, env: "tls://h:1"},
		{f: Fleet{At: "nats://t0k@h:1,nats://t0k@i:1", FleetCreds: file, FleetCert: file, FleetKey: file}},
		{f: Fleet{Workers: n(2)}, want: "--workers: only applies with --fleet"},
		{f: Fleet{Tolerate: true}, want: "--tolerate: only applies with --fleet"},
		{f: Fleet{FleetCA: file}, want: "--fleet-ca: only applies with --fleet"},
		{f: Fleet{At: "local", Workers: n(0)}, want: "--workers 0: must be from 1"},
		{f: Fleet{At: "local", FleetWait: &past}, want: "--fleet-wait -1s: must be from 0"},
		{f: Fleet{At: "local", FleetCreds: file}, want: "--fleet-creds: does not apply to a local fleet"},
		{f: Fleet{At: "t0ksecret@h:4222"}, want: `--fleet "h:4222": must be the URL of a NATS server`},
		{f: Fleet{At: "http://t0ksecret@h:4222"}, want: `--fleet "http://h:4222": must be`},
		{f: Fleet{At: "nats://t0ksecret@h:4222/x"}, want: `--fleet "nats://h:4222/x": must be`},
		{env: "t0ksecret@h", want: `PITOT_FLEET "h": must be`},
		{f: Fleet{At: "nats://h", FleetNKey: file + "x"}, want: "--fleet-nkey: open " + file + "x: no such file"},
		{f: Fleet{At: "nats://h", FleetCA: filepath.Dir(file)}, want: "is a folder, not a file"},
		{f: Fleet{At: "nats://h", FleetKey: file}, want: "--fleet-cert and --fleet-key belong together"},
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
	got := strings.Join(Fleet{At: "nats://t0k@h", Workers: n(2), FleetWait: &wait, Tolerate: true, FleetFewer: true, FleetCA: "ca"}.Words(), " ")
	if want := "--fleet nats://h --workers 2 --fleet-wait 1m0s --fleet-fewer --tolerate --fleet-ca ca"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
