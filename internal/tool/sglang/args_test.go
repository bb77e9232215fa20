package sglang

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// testdata/args.json has what the parser of the tool itself made of command
// lines; testdata/args.py made it.
func TestCommandLinesAreReadAsSGLangReadsThem(t *testing.T) {
	var want struct {
		Usage string
		Lines []struct{ Line, Namespace, Error string }
	}
	golden.JSON(t, "testdata/args.json", &want)
	for _, c := range want.Lines {
		a, err := Parse(strings.Fields(c.Line))
		if c.Error == "" {
			if err != nil {
				t.Errorf("%q: %v", c.Line, err)
			} else if got := a.Namespace(); got != c.Namespace {
				t.Errorf("%q:\n%s", c.Line, cmp.Diff(c.Namespace, got))
			}
			continue
		}
		var mistake *python.UsageError
		if !errors.As(err, &mistake) {
			t.Errorf("%q: %v, want %q", c.Line, err, c.Error)
		} else if first, _, _ := strings.Cut(mistake.Message, "\n"); first != c.Error {
			t.Errorf("%q: %q, want %q", c.Line, first, c.Error)
		}
	}
	if got := Usage("bench_serving.py", nil); got != want.Usage {
		t.Error(cmp.Diff(want.Usage, got))
	}
}

// The arguments of a published run, each written out as a flag, are read back as
// they were printed.
func TestAPublishedCommandLineIsReadAsItWasPrinted(t *testing.T) {
	note, err := os.ReadFile("../ingest/testdata/notes/sglang-deepseek-r1-ascend.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, printed, ok := strings.Cut(string(note), "benchmark_args=")
	if !ok {
		t.Fatal("the note has no arguments")
	}
	printed, _, _ = strings.Cut(printed, "\n")
	args := []string{"--dialect-version", "2026-01"}
	for item := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(printed, "Namespace("), ")"), ", ") {
		name, value, isName := strings.Cut(item, "=")
		value = strings.Trim(value, "'[]")
		flag := "--" + strings.ReplaceAll(name, "_", "-")
		switch {
		case !isName: // the next of a list
			args = append(args, strings.Trim(item, "'[]"))
		case value == "True":
			args = append(args, flag)
		case value != "None" && value != "False":
			args = append(args, flag, value)
		}
	}
	a, err := Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Namespace(); got != printed {
		t.Error(cmp.Diff(printed, got))
	}
	few, err := Parse(strings.Fields("--dialect-version=2026-01 --host 127.0.0.1 --port 6688 --dataset-name random --model " + *a.Model +
		" --num-prompt 1536 --random-input 3500 --random-output 1500 --random-range-ratio 1 --max-concurrency 384"))
	if err != nil || few.Namespace() != printed {
		t.Errorf("%v: what the defaults are is not what was printed", err)
	}
}

func TestAFlagOfAnotherVersionIsToldFromAWrongOne(t *testing.T) {
	for line, want := range map[string]string{
		"--gsp-send-routing-id":                           "unrecognized arguments: --gsp-send-routing-id\n(--dialect-version 2026-01 takes it; this is main)",
		"--dialect-version 2026-01 --cache-report":        "unrecognized arguments: --cache-report\n(--dialect-version main takes it; this is 2026-01)",
		"--dialect-version 2026-01 --dataset-name custom": "argument --dataset-name: invalid choice: 'custom' (choose from 'sharegpt', 'random', 'random-ids', 'generated-shared-prefix', 'mmmu', 'image', 'mooncake')\n(--dialect-version main takes it; this is 2026-01)",
		"--dialect-version 2025-07":                       "argument --dialect-version: invalid choice: '2025-07' (choose from 'main', '2026-01')",
		"--dialect-version":                               "argument --dialect-version: expected one argument",
		"--nothing":                                       "unrecognized arguments: --nothing",
	} {
		if _, err := Parse(strings.Fields(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Short forms that Pitot's own flags would make ambiguous stay good.
func TestOwnFlagsOfPitotTakeNoShortForms(t *testing.T) {
	a, err := Parse(strings.Fields("--req 2 --require-valid"))
	if err != nil || a.RequestRate != 2 || !a.RequireValid {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSecretsOfHeadersAreNotPrinted(t *testing.T) {
	a, err := Parse([]string{"--header", "Authorization=Bearer abcdef", "X-Trace=1"})
	if err != nil || !strings.Contains(a.Namespace(), "header=['Authorization=***', 'X-Trace=1']") {
		t.Errorf("%v: %s", err, a.Namespace())
	}
}
