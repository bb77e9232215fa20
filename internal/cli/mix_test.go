package cli

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A tenant's key, headers and model go with its requests alone, and its secrets nowhere
// else.
func TestTenantsHaveTheirOwnKeys(t *testing.T) {
	behind, err := url.Parse(loopback(t))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[string]int{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") && r.Header.Get("X-Request-Id") != "" {
			b, _ := io.ReadAll(r.Body)
			var body struct{ Model string }
			_ = json.Unmarshal(b, &body)
			r.Body = io.NopCloser(strings.NewReader(string(b)))
			mu.Lock()
			seen[r.Header.Get("Authorization")+" "+r.Header.Get("X-Session-Token")+" "+body.Model]++
			mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	sess, stdout, stderr := process(t, map[string]string{"KEY_A": "sk-of-tenant-a", "OPENAI_API_KEY": "sk-of-everybody"}, "bench", "-q", "--url", front.URL, "-n", "20", "--report", "json",
		"--tenant", "name=a rate=500 output-len=2 api-key-env=KEY_A model=other", "--tenant=name=b rate=500 output-len=2 'header=X-Session-Token=very secret'", "--warmup", "0")
	if code := Run(sess); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var s struct {
		Run     trace.Run `json:"run"`
		Tenants []struct {
			Name             string
			Sent, OK, Failed int
		} `json:"tenants"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Tenants) != 2 || s.Tenants[0].Failed != s.Tenants[0].Sent || s.Tenants[1].Failed != 0 || s.Tenants[0].Sent+s.Tenants[1].Sent != 20 {
		t.Fatalf("%+v", s.Tenants)
	}
	want := map[string]int{"Bearer sk-of-tenant-a  other": s.Tenants[0].Sent, "Bearer sk-of-everybody very secret " + s.Run.Plan.Model: s.Tenants[1].Sent}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	for _, secret := range []string{"sk-of-tenant-a", "very secret", "sk-of-everybody"} {
		if strings.Contains(stdout.String()+stderr.String(), secret) {
			t.Errorf("%s is told", secret)
		}
	}
	if !slices.Contains(s.Run.Env.Invocation, `--tenant=name=b rate=500 output-len=2 header=X-Session-Token=***`) {
		t.Errorf("%q", s.Run.Env.Invocation)
	}
}

// specOf is the Spec of a command line, or what is wrong with it.
func specOf(t *testing.T, args ...string) (*compiled, error) {
	t.Helper()
	sess, _, _ := process(t, nil, args...)
	return planOf(sess, args)
}

func TestSettingsOfAPart(t *testing.T) {
	text := `name=a  workload=chat "header=X-A=b c" header='X-Key=0 1' turns=uniform(2,3) rate=1`
	c, err := specOf(t, "bench", "--tenant", text)
	if err != nil {
		t.Fatal(err)
	}
	one := c.Spec.Load[0]
	headers := []plan.Header{{Name: "X-A", Value: "b c"}, {Name: "X-Key", From: &plan.Source{Given: true}}}
	if one.Name != "a" || one.Dataset.Kind != "chat" || !reflect.DeepEqual(one.Headers, headers) || !strings.Contains(string(one.Dataset.Settings), `"turns":"uniform(2,3)"`) {
		t.Errorf("%+v", one)
	}
	if !maps.Equal(c.Given, map[string]string{"load[0].headers[1]": "0 1"}) {
		t.Errorf("given: %v", c.Given)
	}
	masked := `name=a workload=chat header="X-A=b c" header=X-Key=*** turns=uniform(2,3) rate=1`
	again, err := specOf(t, "bench", "--tenant", c.Args[2])
	if err != nil || again.Spec.Load[0].Headers[0].Value != "b c" || c.Args[2] != masked {
		t.Errorf("%s, want %s: is read as %+v (%v)", c.Args[2], masked, again, err)
	}
	for text, want := range map[string]string{
		"":                      "is empty",
		"chat":                  `"chat": must be NAME=VALUE`,
		"name=a name=b":         "name is given twice",
		`name="a`:               "the quote is not closed",
		"name='a":               "the quote is not closed",
		"--name=a":              "must be NAME=VALUE",
		"name=a tokenizer=none": "tokenizer is an unknown setting",
	} {
		if _, err := specOf(t, "bench", "--tenant="+text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	sess, _, stderr := process(t, nil, "bench", "--tenant", "name=a rate=1 workload=poems")
	if code := Run(sess); code != exitUsage || !strings.Contains(stderr.String(), `workload "poems": unknown kind; allowed: agent, chat`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// The warm-up has prompts of its own: no first turn is cached, and later ones are.
func TestTheWarmUpOfConversationsIsNotMeasured(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		v.Args = []string{
			"bench", "-q", "--store", v.store, "--workload", "chat", "--conversations", "3", "--turns", "2", "--think", "2s", "--rate", "1", "--input-len", "100", "--output-len", "5",
			"--profile", "small-chat", "--warmup", "3",
		}
		if code := Run(v.Session); code != exitOK {
			t.Fatalf("exit code %d: %s", code, v.stderr.String())
		}
		for _, r := range v.last(t).Records {
			if cached := r.Usage.Cached > 0; cached != (r.Turn > 0) {
				t.Errorf("turn %d: %d of %d tokens were cached", r.Turn, r.Usage.Cached, r.Usage.Prompt)
			}
		}
	})
}

// The records of a conversation say so, also from the store, and each turn is due when
// the answer before it and the pause are over.
func TestTurnsInVirtualTime(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		v.Args = []string{
			"bench", "-q", "--store", v.store, "--workload", "chat", "--conversations", "4", "--turns", "3", "--think", "2s", "--rate", "1", "--input-len", "10", "--output-len", "5",
			"--engine-ttft", "50ms", "--engine-itl", "10ms", "--arrival", "constant",
		}
		if code := Run(v.Session); code != exitOK {
			t.Fatalf("exit code %d: %s", code, v.stderr.String())
		}
		records := comparable(v.last(t))
		if len(records) != 12 {
			t.Fatalf("%d records", len(records))
		}
		for i, r := range records {
			due := trace.Instant(i/3) * 1e9
			if i%3 > 0 {
				due = records[i-1].Done + 2e9
				if r.Usage.Prompt <= records[i-1].Usage.Prompt+5 {
					t.Errorf("turn %d has a prompt of %d tokens, after %d", i%3, r.Usage.Prompt, records[i-1].Usage.Prompt)
				}
			}
			if r.Turn != i%3 || r.Session != "c"+string(rune('0'+i/3)) || r.Due != due || r.Text != "" || !r.OK() {
				t.Errorf("record %d: session %s, turn %d, due %v, want %v, text %q", i, r.Session, r.Turn, r.Due, due, r.Text)
			}
		}
	})
}
