package fleet

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/session"
)

func printed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return printedBy(t, "0.1.0-dev+01234567", args...)
}

func printedBy(t *testing.T, version string, args ...string) (string, error) {
	t.Helper()
	var m Manifests
	parser, err := kong.New(&m, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	err = m.Run(&session.Session{Stdout: &text, Version: version})
	return text.String(), err
}

var token = regexp.MustCompile(`\n  token: (t[A-Z2-7]{26})\n`)

func TestEveryTokenIsNew(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		text, err := printed(t, "--image", "pitot:v1")
		if err != nil {
			t.Fatal(err)
		}
		match := token.FindStringSubmatch(text)
		if match == nil || seen[match[1]] {
			t.Fatalf("no new token in\n%s", text)
		}
		seen[match[1]] = true
	}
	text, err := printed(t, "--image", "pitot:v1", "--secret", "mine", "--storage", "none")
	if err != nil || strings.Contains(text, "kind: Secret") || strings.Contains(text, "volumeClaimTemplates") || !strings.Contains(text, "name: mine\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A release names its image, and a mirror of it can be named.
func TestTheImageOfARelease(t *testing.T) {
	for want, args := range map[string][]string{"image: ghcr.io/pitot-bench/pitot:0.1.0\n": nil, "image: mirror.example.cn/pitot:0.1.0\n": {"--image", "mirror.example.cn/pitot:0.1.0"}} {
		text, err := printedBy(t, "0.1.0", args...)
		if err != nil || strings.Count(text, want) != 1 {
			t.Errorf("%v: %d times %s", err, strings.Count(text, want), want)
		}
	}
}

func TestManifestsAreNotPrintedByMistake(t *testing.T) {
	var wrong session.UsageError
	if text, err := printed(t, "--workers", "0"); text != "" || !errors.As(err, &wrong) || err.Error() != "--workers 0: must be from 1 to 65000\n"+
		"--image: no image given, and this build is no release with one of its own; name one that your cluster can pull, such as registry.example.com/pitot:v1" {
		t.Errorf("%v\n%s", err, text)
	}
}
