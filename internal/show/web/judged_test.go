package web

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// judgedServer answers with what it was asked.
func judgedServer(t *testing.T, j Judged) http.Handler {
	t.Helper()
	s := &Server{Runs: openStore(t), Judged: j}
	t.Cleanup(s.Close)
	return s.Handler()
}

func fetch(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// The page begins in the language that its reader chose, else that of the server, else that of the browser.
func TestFirstLanguageOfThePage(t *testing.T) {
	s := &Server{Runs: openStore(t)}
	t.Cleanup(s.Close)
	for _, tt := range []struct{ server, query, want string }{
		{"", "", "en"},
		{"", "?lang=&browser=zh", "zh"},
		{"", "?lang=&browser=fr", "en"},
		{"", "?lang=en&browser=zh", "en"},
		{"zh", "?lang=&browser=en", "zh"},
		{"zh", "?lang=en&browser=en", "en"},
		{"en", "?lang=&browser=zh", "en"},
	} {
		s.Language = tt.server
		var hello view.Hello
		if err := json.Unmarshal(fetch(s.Handler(), "/api/hello"+tt.query).Body.Bytes(), &hello); err != nil || hello.Language != tt.want {
			t.Errorf("%+v: %s %v", tt, hello.Language, err)
		}
	}
}

func TestQuestionsForComparisons(t *testing.T) {
	var got view.Asked
	var in string
	h := judgedServer(t, Judged{Compare: func(_ context.Context, a view.Asked, l *words.Language) (view.Comparison, error) {
		got, in = a, l.Name
		return view.Comparison{Asked: a}, nil
	}})
	w := fetch(h, "/api/compare?run=base-*&run=new&baseline=new&margin=0.03&level=0.9&paired=1&predicted=1&single=0&ignore=rate&gate=ttft.mean+%3E+%2B2%25&by=vllm&lang=zh")
	want := view.Asked{
		Runs: []string{"base-*", "new"}, Baseline: "new", Margin: 0.03, Level: 0.9, Paired: true, Predicted: true, Ignore: []string{"rate"}, By: "vllm", Gates: []string{"ttft.mean > +2%"},
	}
	if w.Code != http.StatusOK || !reflect.DeepEqual(got, want) || in != "zh" {
		t.Errorf("%d in %s: %+v", w.Code, in, got)
	}
	if body := w.Body.String(); !strings.Contains(body, `"loads":[]`) || !strings.Contains(body, `"refused":null`) {
		t.Error(body)
	}
	for path, why := range map[string]string{
		"/api/compare":                                        "run: must name at least one run",
		"/api/compare?run=a&margin=2":                         "margin=2: must be a share",
		"/api/compare?run=a&level=NaN":                        "level=NaN",
		"/api/compare?run=" + strings.Repeat("a", 1001):       "run: must be at most 1000 bytes",
		"/api/compare?" + strings.Repeat("run=a&", 201):       "at most 200 names",
		"/api/compare?run=a" + strings.Repeat("&gate=x", 101): "at most 100",
	} {
		if w := fetch(h, path); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), why) {
			t.Errorf("%.60s: %d %s", path, w.Code, w.Body)
		}
	}
}

// Whoever asks and goes takes the question along.
func TestAQuestionEndsWithItsAsker(t *testing.T) {
	ended := make(chan error, 1)
	h := judgedServer(t, Judged{Compare: func(ctx context.Context, _ view.Asked, _ *words.Language) (view.Comparison, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return view.Comparison{}, ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/compare?run=a", nil))
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func notes() Judged {
	return Judged{
		Compare: func(context.Context, view.Asked, *words.Language) (view.Comparison, error) {
			return view.Comparison{}, nil
		},
		Note: func(_ context.Context, a view.Asked, _ *words.Language) (view.Note, comparison.NotePage, error) {
			if a.Runs[0] == "apart" {
				return view.Note{Refused: &view.Refused{Text: "the loads differ"}}, comparison.NotePage{}, nil
			}
			title := "../a/b <c>\r\nx"
			items := []doc.Item{
				doc.Prose(doc.Strong("<script>") + title),
				doc.Pre{Text: "</pre><script>"},
				doc.Folded{Title: "<b>", Items: []doc.Item{doc.Image{Title: `"><c>`, Path: "note/1-ttft.svg"}}},
			}
			page := comparison.NotePage{
				Markdown: []byte("# n\n"), Plots: []comparison.NoteFile{{Name: "note/1-ttft.svg", Data: []byte("<svg/>")}},
				Document: doc.Document{Lang: words.In("en"), Sections: []doc.Section{{Title: title, Items: items}}},
			}
			return view.Note{Title: title, Markdown: "# n\n"}, page, nil
		},
	}
}

// The HTML of a note has no text as markup, and its images are the plots of the same question.
func TestNotesAreHTML(t *testing.T) {
	w := fetch(judgedServer(t, notes()), "/api/note?run=a&run=%22b%3E&lang=en")
	var n view.Note
	if err := json.Unmarshal(w.Body.Bytes(), &n); err != nil {
		t.Fatal(err)
	}
	for _, markup := range []string{"<script", "<b>", "<c>", `"b`} {
		if strings.Contains(n.HTML, markup) {
			t.Errorf("%s is markup in %s", markup, n.HTML)
		}
	}
	src := `<img src="api/note/plot?lang=en&amp;name=note%2F1-ttft.svg&amp;run=a&amp;run=%22b%3E" alt="&#34;&gt;&lt;c&gt;"`
	if !strings.Contains(n.HTML, src) || !strings.Contains(n.HTML, "<strong>&lt;script&gt;</strong>") {
		t.Errorf("%s", n.HTML)
	}
}

// A plot is opened by itself too, where nothing in it may do anything.
func TestPlotsOfNotes(t *testing.T) {
	h := judgedServer(t, notes())
	w := fetch(h, "/api/note/plot?run=a&name=note%2F1-ttft.svg")
	head := w.Header()
	if w.Code != http.StatusOK || w.Body.String() != "<svg/>" || head.Get("Content-Type") != "image/svg+xml" || head.Get("X-Content-Type-Options") != "nosniff" ||
		head.Get("Content-Security-Policy") != "default-src 'none'; style-src 'unsafe-inline'; sandbox" {
		t.Errorf("%d %v %s", w.Code, head, w.Body)
	}
	for _, name := range []string{"note.md", "..%2Fetc%2Fpasswd", ""} {
		if w := fetch(h, "/api/note/plot?run=a&name="+name); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

func TestNotesAreDownloaded(t *testing.T) {
	h := judgedServer(t, notes())
	w := fetch(h, "/api/note/download?run=a")
	if got := w.Header().Get("Content-Disposition"); w.Code != http.StatusOK || strings.ContainsAny(got, "\r\n<") || !strings.HasPrefix(got, `attachment; filename="a-b-`) {
		t.Errorf("%d %q", w.Code, got)
	}
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if want := []string{"note.md", "note/1-ttft.svg"}; !reflect.DeepEqual(names, want) {
		t.Errorf("%q", names)
	}
	if w := fetch(h, "/api/note/download?run=apart"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "the loads differ") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestExperimentsOverHTTP(t *testing.T) {
	j := notes()
	j.Experiments = func(*words.Language) (view.Experiments, error) { return view.Experiments{}, nil }
	j.Experiment = func(name string, _ *words.Language) (view.Experiment, error) {
		if name != "a/b c" {
			return view.Experiment{}, fmt.Errorf("%w: %s", store.ErrNoExperiment, name)
		}
		return view.Experiment{Row: view.ExperimentRow{Name: name}}, nil
	}
	j.Log = func(_ string, leg int) (string, error) {
		if leg != 2 {
			return "", fmt.Errorf("leg %d: %w", leg, fs.ErrNotExist)
		}
		return "<b>ready</b>", nil
	}
	h := judgedServer(t, j)
	for path, want := range map[string]struct {
		code int
		body string
	}{
		"/api/experiments":                      {http.StatusOK, `{"rows":[],"damaged":[]}`},
		"/api/experiments/a%2Fb%20c":            {http.StatusOK, `"name":"a/b c"`},
		"/api/experiments/other":                {http.StatusNotFound, "other"},
		"/api/experiments/a%2Fb%20c/log?leg=2":  {http.StatusOK, "<b>ready</b>"},
		"/api/experiments/a%2Fb%20c/log?leg=1":  {http.StatusNotFound, "leg 1"},
		"/api/experiments/a%2Fb%20c/log?leg=-1": {http.StatusBadRequest, "leg"},
	} {
		w := fetch(h, path)
		if w.Code != want.code || !strings.Contains(w.Body.String(), want.body) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if kind := w.Header().Get("Content-Type"); strings.HasPrefix(kind, "text/html") {
			t.Errorf("%s: %s", path, kind)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(method, "/api/experiments/a", nil)); w.Code < 400 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}
