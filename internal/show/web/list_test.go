package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// get asks a handler as a browser on this machine does.
func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:7070/api/"+path, nil))
	return w
}

func listed(t *testing.T, h http.Handler, query string) (found view.Runs) {
	t.Helper()
	w := get(h, "runs?"+query)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", query, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRunsAreSelected(t *testing.T) {
	s := openStore(t)
	fill(t, s, 60)
	h := (&Server{Runs: s}).Handler()
	all := func(is func(i int) bool) (ids []string) {
		for i := 59; i >= 0; i-- {
			if is(i) {
				ids = append(ids, filled(i).ID)
			}
		}
		return ids
	}
	for query, want := range map[string][]string{
		"":                                    all(func(int) bool { return true }),
		"q=":                                  all(func(int) bool { return true }),
		"q=qwen":                              all(func(i int) bool { return i%3 == 0 }),
		"q=QWEN+driver":                       all(func(i int) bool { return i%30 == 0 }),
		"q=gpu-30":                            {filled(30).ID},
		"q=" + filled(7).ID:                   {filled(7).ID},
		"q=%25":                               nil,
		"q=_":                                 nil,
		"q=%27%20OR%201=1%20--":               nil,
		"model=Qwen/Qwen3-8B":                 all(func(i int) bool { return i%3 == 0 }),
		"model=*Llama*":                       all(func(i int) bool { return i%3 == 1 }),
		"load=poisson+17":                     all(func(i int) bool { return i%20 == 16 }),
		"load=nothing":                        nil,
		"verdict=doubtful":                    all(func(i int) bool { return i%7 == 0 }),
		"status=interrupted":                  all(func(i int) bool { return i%50 == 0 }),
		"kind=simulated":                      all(func(i int) bool { return i%50 == 0 }),
		"tag=release":                         all(func(i int) bool { return i%10 == 0 }),
		"tag=release&tag=gpu-10":              all(func(i int) bool { return i%40 == 10 }),
		"tag=releas":                          nil,
		"experiment=ab-1":                     all(func(i int) bool { return i/16 == 1 && i%2 == 0 }),
		"since=2026-01-02&until=2026-01-02":   all(func(i int) bool { return i >= 12 && i < 36 }),
		"until=2026-01-01T14:00:00Z":          all(func(i int) bool { return i < 2 }),
		"tag=release&verdict=doubtful&q=qwen": all(func(i int) bool { return i%210 == 0 }),
	} {
		found := listed(t, h, query+"&limit=1000")
		var ids []string
		for _, r := range found.Rows {
			ids = append(ids, r.ID)
		}
		if diff := cmp.Diff(want, ids); diff != "" || found.Total != len(want) || found.Stored != 60 {
			t.Errorf("%s: %d of %d: %s", query, found.Total, found.Stored, diff)
		}
	}
}

func TestRunsAreSorted(t *testing.T) {
	s := openStore(t)
	fill(t, s, 60)
	h := (&Server{Runs: s}).Handler()
	for _, name := range store.Sorts() {
		up, down := listed(t, h, "limit=60&sort="+name).Rows, listed(t, h, "limit=60&sort=-"+name).Rows
		if len(up) != 60 || len(down) != 60 {
			t.Fatalf("%s: %d and %d runs", name, len(up), len(down))
		}
		if slices.Contains(store.Listed(), name) {
			checkOrder(t, name, up, func(a, b float64) bool { return a <= b })
			checkOrder(t, name, down, func(a, b float64) bool { return a >= b })
		}
	}
	byName := listed(t, h, "sort=name&limit=2&offset=1")
	if byName.Offset != 1 || byName.Total != 60 || byName.Rows[0].Name != "nightly / 1" || byName.Rows[1].Name != "nightly / 10" {
		t.Errorf("%+v", byName.Rows)
	}
}

// The runs of an experiment are one row: the newest of them, without figures.
func TestRunsAreGrouped(t *testing.T) {
	s := openStore(t)
	fill(t, s, 60) // each other one in experiments ab-0 to ab-3
	h := (&Server{Runs: s}).Handler()
	found := listed(t, h, "group=1&limit=1000")
	if found.Total != 34 || found.Runs != 60 || found.Stored != 60 || len(found.Rows) != 34 {
		t.Fatalf("%d rows of %d runs", found.Total, found.Runs)
	}
	groups := map[string]view.RunGroup{}
	for _, r := range found.Rows {
		if (r.Group != nil) != (r.Experiment != "") {
			t.Fatalf("%+v", r)
		}
		if r.Group == nil {
			continue
		}
		groups[r.Group.Name] = *r.Group
		if r.Name != r.Experiment || len(r.Figures) > 0 || r.Validity != "" || r.Load != "" || r.Model != "" || r.Records != 2*r.Group.Runs {
			t.Errorf("%+v", r)
		}
	}
	if g, want := groups["ab-1"], (view.RunGroup{Name: "ab-1", Runs: 8, Valid: 7, Doubtful: 1, Loads: 8, Models: 3}); g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
	if some := listed(t, h, "group=1&verdict=doubtful&limit=1000"); some.Total != 8 || some.Runs != 9 {
		t.Errorf("%d rows of %d runs", some.Total, some.Runs)
	}
}

// checkOrder wants the runs without a figure behind the others.
func checkOrder(t *testing.T, name string, rows []view.Row, order func(a, b float64) bool) {
	t.Helper()
	missing := 0
	for i := range rows {
		v, ok := rows[i].Figures[name]
		if !ok {
			missing++
			continue
		}
		if missing > 0 {
			t.Errorf("%s: a run without it comes before %s", name, rows[i].ID)
		}
		if i > 0 && !order(rows[i-1].Figures[name], v) {
			t.Errorf("%s: %v before %v", name, rows[i-1].Figures[name], v)
		}
	}
	if want := map[bool]int{true: 2, false: 1}[name == "ttft.mean"]; missing != want {
		t.Errorf("%s: %d runs without it, want %d", name, missing, want)
	}
}

func TestWhatThereIsToChooseFrom(t *testing.T) {
	s := openStore(t)
	fill(t, s, 60)
	found := listed(t, (&Server{Runs: s}).Handler(), "q=nothing-of-that-name")
	if diff := cmp.Diff([]string{"Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3", "meta-llama/Llama-3.1-70B-Instruct"}, found.Models); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"release", "gpu-0", "gpu-10", "gpu-20", "gpu-30"}, found.Tags); diff != "" {
		t.Error(diff)
	}
	if len(found.Experiments) != 4 || len(found.Loads) != 20 || !slices.Contains(found.Loads, "random, 256 tokens in, 128 out, Poisson at 3 requests/s") {
		t.Errorf("%v %v", found.Experiments, found.Loads)
	}
}

func TestQuestionsThatCannotBe(t *testing.T) {
	h := (&Server{Runs: openStore(t)}).Handler()
	for query, want := range map[string]string{
		"limit=0":                              "limit=0: must be a number from 1 to 1000",
		"limit=1001":                           "limit=1001: must be",
		"offset=-1":                            "offset=-1: must be",
		"offset=x":                             "offset=x: must be",
		"sort=body":                            "sort=body: must be one of concurrency, failed",
		"sort=(select+1)":                      "sort=(select 1): must be one of",
		"verdict=fine":                         "verdict=fine: must be one of valid doubtful invalid",
		"status=x":                             "status=x: must be",
		"kind=x":                               "kind=x: must be",
		"since=soon":                           "since=soon: must be a date",
		"until=soon":                           "until=soon: must be a date",
		"q=" + strings.Repeat("a", 2000):       "q: must be at most 1000 bytes",
		"q=" + strings.Repeat("a+", 60):        "q, tag: at most 50 words and tags",
		"tag=" + strings.Repeat("a&tag=a", 60): "q, tag: at most 50 words and tags",
	} {
		w := get(h, "runs?"+query)
		if w.Code != http.StatusBadRequest || !strings.HasPrefix(w.Body.String(), want) || strings.Count(w.Body.String(), "\n") != 1 {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// An empty store has lists without anything, and no null.
func TestAnEmptyStoreIsAnswered(t *testing.T) {
	w := get((&Server{Runs: openStore(t)}).Handler(), "runs")
	want := `{"total":0,"runs":0,"stored":0,"offset":0,"rows":[],"models":[],"tags":[],"experiments":[],"loads":[]}` + "\n"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Error(diff)
	}
	if kind := w.Header().Get("Content-Type"); kind != "application/json" {
		t.Error(kind)
	}
}

// With 10 000 runs, questions of the list take a few hundredths of a second.
func BenchmarkRuns(b *testing.B) {
	s := openStore(b)
	fill(b, s, 10_000)
	h := (&Server{Runs: s}).Handler()
	for _, query := range []url.Values{
		{}, {"group": {"1"}}, {"q": {"qwen release"}}, {"sort": {"-ttft.p99"}}, {"sort": {"name"}, "limit": {"1000"}}, {"load": {"poisson 17"}}, {"tag": {"release"}}, {"offset": {"9950"}},
	} {
		b.Run("?"+query.Encode(), func(b *testing.B) {
			for b.Loop() {
				if w := get(h, "runs?"+query.Encode()); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/op")
		})
	}
}
