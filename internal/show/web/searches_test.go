package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A finder that gives back what it is asked.
func echo() Finder {
	return Finder{
		List: func(_ *store.Store, l *words.Language) (view.Searches, error) {
			return view.Searches{Rows: []view.SearchRow{{Name: "<b>", Answer: l.Name}}}, nil
		},
		Show: func(_ *store.Store, name string, _ *words.Language) (view.Search, error) {
			if name == "none" {
				return view.Search{}, fmt.Errorf("%w: %s", store.ErrNoSearch, name)
			}
			return view.Search{Row: view.SearchRow{Name: name}}, nil
		},
	}
}

func TestSearchesPredictionsAndConformity(t *testing.T) {
	s := openStore(t)
	fill(t, s, 3)
	report := conform.Report{Client: "<img src=x>", Command: []string{"x"}, Results: []conform.Result{{Cell: conform.Cell{Name: "1", Streams: 1, Arrivals: conform.Spread}}}}
	h := (&Server{Runs: s, Finder: echo(), Conformity: []conform.Report{report}}).Handler()
	for path, want := range map[string]string{
		"searches?lang=zh":                           `"says":"zh"`,
		"searches/a%2Fb%20%3Cscript%3E":              `"name":"a/b \u003cscript\u003e"`,
		"searches/q":                                 `"sweep":null,"capacity":null`,
		"conform":                                    `"name":"\u003cimg src=x\u003e"`,
		"runs/" + filled(0).ID + "/predicted":        `"measured":[`,
		"runs/" + filled(0).ID + "/predicted?lang=x": `"predictions":[`,
	} {
		w := get(h, path)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", path, w.Code, w.Body, want)
		}
		if strings.Contains(w.Body.String(), "<") || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v %s", path, w.Header(), w.Body)
		}
	}
	for path, want := range map[string]int{"searches/none": http.StatusNotFound, "runs/none/predicted": http.StatusNotFound, "searches/a/b": http.StatusNotFound} {
		if w := get(h, path); w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	empty := get((&Server{Runs: s, Finder: echo()}).Handler(), "conform").Body.String()
	if !strings.HasPrefix(empty, `{"clients":[],"cells":[],`) {
		t.Error(empty)
	}
}
