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
	var m Manifests
	parser, err := kong.New(&m, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	err = m.Run(&session.Session{Stdout: &text})
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

func TestManifestsAreNotPrintedByMistake(t *testing.T) {
	var wrong session.UsageError
	if text, err := printed(t, "--workers", "0"); text != "" || !errors.As(err, &wrong) || err.Error() != "--workers 0: must be from 1 to 65000\n"+
		"--image: no image given; it must be one that your cluster can pull, such as registry.example.com/pitot:v1" {
		t.Errorf("%v\n%s", err, text)
	}
}
