package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// A build of the tag is the release, any other comes before it.
func TestVersion(t *testing.T) {
	t.Parallel()
	setting := func(pairs ...string) (all []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return all
	}
	for want, info := range map[string]*debug.BuildInfo{
		"1.2.3":                    {Main: debug.Module{Version: "v1.2.3"}},
		"1.2.3-dev":                nil,
		"1.2.3-dev+01234567":       {Main: debug.Module{Version: "v1.2.4"}, Settings: setting("vcs.revision", "0123456789abcdef", "vcs.modified", "false")},
		"1.2.3-dev+fedcba98.dirty": {Settings: setting("vcs.modified", "true", "vcs.revision", "fedcba9876543210")},
	} {
		if got := versionOf("1.2.3", info); got != want {
			t.Errorf("%+v: %q, want %q", info, got, want)
		}
	}
}

// The tag of a release is the version that stands in the tree, and the changelog knows it.
func TestTheTagIsTheVersion(t *testing.T) {
	t.Parallel()
	version := strings.TrimSpace(number)
	if out, err := exec.Command("../../packaging/check-tag.sh", "v"+version).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, tag := range []string{version, "v" + version + "0", "v0.0.0", ""} {
		if out, err := exec.Command("../../packaging/check-tag.sh", tag).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("VERSION says "+version)) {
			t.Errorf("%q: %v: %s", tag, err, out)
		}
	}
	if job, err := os.ReadFile("../../packaging/bench-job.yaml"); err != nil || !bytes.Contains(job, []byte("image: ghcr.io/pitot-bench/pitot:"+version+"\n")) {
		t.Errorf("bench-job.yaml has another image than that of %s: %v", version, err)
	}
	if out, err := exec.Command("../../packaging/notes.sh", version).Output(); err != nil || !bytes.HasPrefix(bytes.TrimSpace(out), []byte("- ")) {
		t.Errorf("notes: %v: %.80s", err, out)
	}
}

// A wheel has the program and the module, each as its RECORD says, the same bytes each time, and the module works.
func TestWheel(t *testing.T) {
	t.Parallel()
	if exec.Command("python3", "-c", "").Run() != nil {
		t.Skip("no python3 here")
	}
	dir := t.TempDir()
	pitot := filepath.Join(dir, "program")
	// In place of the program stands a script that runs it: to compress 60 MB takes seconds.
	if err := os.WriteFile(pitot, []byte("#!/bin/sh\nexec '"+build(t)+"' \"$@\"\n"), 0o755); err != nil { //nolint:gosec // is executed
		t.Fatal(err)
	}
	wheel := func(folder, version string) ([]byte, error) {
		out := filepath.Join(dir, folder)
		if err := os.MkdirAll(out, 0o750); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command("python3", "../../packaging/wheel.py", version, "../../README.md", out, "linux-arm64="+pitot).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, said)
		}
		name := strings.TrimSpace(string(said))
		if !strings.HasSuffix(name, "-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl") {
			t.Errorf("the wheel is %s", name)
		}
		return os.ReadFile(filepath.Clean(name))
	}
	first, err := wheel("a", "0.1.0-dev+01ab.dirty")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := wheel("b", "0.1.0-dev+01ab.dirty"); !bytes.Equal(first, again) {
		t.Errorf("the second wheel is another one (%v)", err)
	}
	if _, err := wheel("c", "1.0; rm"); err == nil || !strings.Contains(err.Error(), "is no version of a wheel") {
		t.Error(err)
	}

	root := filepath.Join(dir, "site")
	unpack(t, first, root)

	cmd := exec.Command("python3", "-c", `
from pitot_bench import PitotError, compare, pitot, program, run, runs
a, b = (run("sim", n=200, rate=20, seed=s, store="runs.db", name=f"seed {s}") for s in (1, 2))
assert a.validity == "valid" and a.sent == 200 and a.figures["requests.ok"] == 200 and 0 < a.figures["ttft.mean"] < 1, a
pitot("runs", "tag", a.id, "+x", "+y", store="runs.db")
assert [(r.id, r.tags) for r in runs(store="runs.db")] == [(b.id, ()), (a.id, ("x", "y"))] and a.name == "seed 1", runs(store="runs.db")
rows = a.requests()
assert len(rows) == 200 and abs(sum(r["ttft_s"] for r in rows) / 200 - a.figures["ttft.mean"]) < 1e-9
assert a.report()["run"]["id"] == a.id and compare(a, b)["workloads"]
try:
    run("sim", n=-1, store="runs.db")
except PitotError as e:
    assert e.code == 2 and "--requests -1" in str(e), e
else:
    raise SystemExit("-1 requests were made")
import pitot_bench.__main__
assert program().endswith("/scripts/pitot"), program()
`)
	cmd.Dir = dir
	program, err := filepath.Glob(root + "/*.data/scripts/pitot")
	if err != nil || len(program) != 1 {
		t.Fatal(program, err)
	}
	cmd.Env = append(os.Environ(), "PYTHONPATH="+root, "PYTHONDONTWRITEBYTECODE=1", "PITOT="+program[0])
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// unpack unpacks a wheel, and holds its files against its RECORD.
func unpack(t *testing.T, wheel []byte, root string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		t.Fatal(err)
	}
	record, sums := "", map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, "/RECORD") {
			record = string(data)
			continue
		}
		sum := sha256.Sum256(data)
		sums[f.Name] = fmt.Sprintf("sha256=%s,%d", base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		name := filepath.Join(root, filepath.Clean("/"+f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, f.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(record) {
		name, sum, _ := strings.Cut(strings.TrimSpace(line), ",")
		if sum != "," && sums[name] != sum { // its own line has none
			t.Errorf("RECORD has %s, the file %s", line, sums[name])
		}
		delete(sums, name)
	}
	if len(sums) > 0 {
		t.Errorf("RECORD does not list %v", sums)
	}
}
