package run

import (
	"errors"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

func TestTheTokenizerIsAskedByTheServedName(t *testing.T) {
	several := []endpoint.Model{{ID: "a", Root: "org/a"}, {ID: "b", Root: "org/b"}}
	for _, c := range []struct {
		name, root, want string
		listed           []endpoint.Model
	}{
		{"b", "", "b", several},
		{"org/b", "org/b", "b", several},
		{"", "org/a", "a", several},
		{"other", "other", "", several},
		{"other", "other", "only", []endpoint.Model{{ID: "only"}}},
		{"other", "", "", nil},
	} {
		p := &Prepared{listed: c.listed}
		p.spec.Request.Model, p.spec.Request.Root = c.name, c.root
		if got := p.served().ID; got != c.want {
			t.Errorf("model %q from %q is asked for as %q, want %q", c.name, c.root, got, c.want)
		}
	}
}

func TestAMissingTokenizerSaysWhatTheServerAnswered(t *testing.T) {
	status := errors.New("/tokenize answered HTTP 404")
	b := &builder{noTokens: status}
	for _, err := range []error{errors.New("images need text prompts"), plan.Problems{{Path: "batch", Why: "batches are of texts"}}} {
		got := b.withoutTokens(err).Error()
		if !strings.Contains(got, err.Error()) || !strings.Contains(got, status.Error()) {
			t.Errorf("%s", got)
		}
	}
	if b.withoutTokens(nil) != nil {
		t.Error("a load that was built has an error")
	}
}
