package apiserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// serveTruth streams the records out as one JSON object, a Truth; ?id= picks
// the requests of that id. Requests go on meanwhile, undisturbed.
func (s *Server) serveTruth(w http.ResponseWriter, r *http.Request) {
	head, records := s.truth.snapshot()
	id, filter := r.URL.Query().Get("id"), r.URL.Query().Has("id")
	w.Header().Set("Content-Type", phrase.JSON)
	out := bufio.NewWriterSize(w, 32<<10) // an error stays: the reader has gone
	defer out.Flush()
	fmt.Fprintf(out, `{"start_unix_ns":%d,"open":%d,"dropped_requests":%d,"dropped_writes":%d,"requests":[`,
		s.start.UnixNano(), head.Open, head.DroppedRequests, head.DroppedWrites)
	comma := ""
	for _, rec := range records {
		if filter && rec.ID != id {
			continue
		}
		text, _ := json.Marshal(rec.published()) // words and numbers always can be
		fmt.Fprintf(out, "%s%s", comma, text)
		comma = ","
	}
	fmt.Fprintln(out, "]}")
}

func (s *Server) clearTruth(w http.ResponseWriter, _ *http.Request) {
	s.truth.clear()
	w.WriteHeader(http.StatusNoContent)
}
