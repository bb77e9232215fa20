package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/runs"
)

// manyExports is how many are written at once.
const manyExports = 3

var types = map[runs.Format]string{
	runs.JSON: "application/json", runs.JSONL: "application/x-ndjson", runs.CSV: "text/csv; charset=utf-8", runs.Parquet: "application/vnd.apache.parquet",
}

// export answers GET /api/runs/{id}/export?format=: a file as `pitot runs export` writes it. The
// records of the run are never in memory together.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	form, err := oneOf(r.URL.Query(), "format", runs.JSON, runs.JSONL, runs.CSV, runs.Parquet)
	form = cmp.Or(form, runs.JSON)
	var l store.Listing
	if err == nil {
		l, err = s.Runs.Find(r.PathValue("id"))
	}
	var one runs.Stream
	if err == nil {
		one, err = runs.Open(s.Runs, l.ID)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		refuse(w, refusalf(http.StatusServiceUnavailable, "%d runs are being exported; try again when one is done", manyExports))
		return
	}
	w.Header().Set("Content-Type", types[form])
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"pitot-%s.%s\"", cleanName(l.ID), form))
	if err := runs.Export(w, func(yield func(runs.Stream, error) bool) { yield(one, nil) }, form, false); err != nil {
		panic(http.ErrAbortHandler) // the browser sees that the file is incomplete
	}
}

// cleanName is an id as a part of the name of a file.
func cleanName(id string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || slices.Contains([]rune("-_."), r)) {
			return r
		}
		return '-'
	}, id)
	const long = 100
	return strings.Trim(clean[:min(len(clean), long)], ".-")
}
