package plan

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	m := Msg("some-code", "count", 3, "took", 1500*time.Millisecond, "why", errors.New("no"), "list", []string{"a", "b"},
		"inner", Msg("other"), "all", []Message{Msg("one", "x", 1), Text("two")}, "texts", []Message{Text("a"), Text("b")}, "text", Text("c"), "yes", true, "share", float32(0.5))
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again Message
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, again); diff != "" {
		t.Error(diff)
	}
	if m.Key() != again.Key() || m.Key() == Msg("some-code").Key() {
		t.Errorf("%s, %s", m.Key(), again.Key())
	}
}

// Runs stored when notes were sentences keep them.
func TestASentenceIsAMessage(t *testing.T) {
	var notes []Message
	if err := json.Unmarshal([]byte(`["2 of 3 failed", {"code": "x"}, ""]`), &notes); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Message{Text("2 of 3 failed"), {Code: "x"}, {}}, notes); diff != "" {
		t.Error(diff)
	}
	if b, err := json.Marshal(notes); err != nil || string(b) != `["2 of 3 failed",{"code":"x"},""]` {
		t.Errorf("%s, %v", b, err)
	}
	if !notes[2].IsZero() || notes[1].IsZero() {
		t.Error("a message says nothing if it has no words")
	}
}

func TestMapChangesEveryText(t *testing.T) {
	m := Msg("c", "a", "x", "n", 1, "list", []string{"x", "y"}, "inner", Msg("d", "b", "x"), "all", []Message{Msg("e", "b", "x"), Text("x")})
	got := m.Map(func(s string) string { return s + "!" })
	want := Msg("c", "a", "x!", "n", 1, "list", []string{"x!", "y!"}, "inner", Msg("d", "b", "x!"), "all", []Message{Msg("e", "b", "x!"), Text("x!")})
	if diff := cmp.Diff(want, got); diff != "" || m.Args["a"] != "x" {
		t.Error(diff)
	}
}
