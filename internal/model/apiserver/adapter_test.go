package apiserver

import (
	"strings"
	"testing"
	"testing/synctest"
)

func TestAdapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newScripted(t, Config{Model: "base", MaxModelLen: 99, Adapters: []string{"sql", "poems"}})
		card := func(id, parent, context string) string {
			return `{"id":"` + id + `","object":"model","created":946684800,"owned_by":"pitot","root":"` + id + `","parent":` +
				parent + `,"max_model_len":` + context + `}`
		}
		_, got := r.whole("GET", "/v1/models", "")
		want := `{"object":"list","data":[` + card("base", "null", "99") + "," + card("sql", `"base"`, "null") + "," +
			card("poems", `"base"`, "null") + `]}`
		if got != want {
			t.Errorf("models %s, want %s", got, want)
		}
		for _, test := range []struct{ field, model, adapter string }{
			{``, "base", ""},
			{`,"model":"base"`, "base", ""},
			{`,"model":"poems"`, "poems", "poems"},
			{`,"model":"sql","stream":true`, "sql", "sql"},
		} {
			status, got := r.whole("POST", completions, `{"prompt":"a","max_tokens":1`+test.field+`}`)
			j := m.jobs[len(m.jobs)-1]
			if status != 200 || !strings.Contains(got, `"model":"`+test.model+`"`) || j.Adapter != test.adapter {
				t.Errorf("%s: %d %s, adapter %q", test.field, status, got, j.Adapter)
			}
		}
		if status, got := r.whole("POST", completions, `{"prompt":"a","model":"prose"}`); status != 404 || len(m.jobs) != 4 {
			t.Errorf("unknown adapter: %d %s", status, got)
		}
		if status, got := r.whole("POST", "/tokenize", `{"prompt":"a","model":"sql"}`); status != 200 {
			t.Errorf("tokenize with an adapter: %d %s", status, got)
		}
	})
}

func TestBadAdapters(t *testing.T) {
	_, err := New(Config{Adapters: []string{"a", "", "pitot", "a"}})
	want := "an adapter has no name\nadapter pitot: the name is taken already\nadapter a: the name is taken already"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
