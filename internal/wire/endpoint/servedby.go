package endpoint

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// servedBy names the server, by the headers of the first answer.
type servedBy struct{ name atomic.Pointer[string] }

// headerText limits the recorded part of a header, in bytes.
const headerText = 100

// note keeps the headers Server and Via of the first answer.
func (s *servedBy) note(h http.Header) {
	if s.name.Load() != nil {
		return
	}
	var parts []string
	for _, name := range []string{"Server", "Via"} {
		if v := h.Get(name); v != "" {
			parts = append(parts, name+": "+strings.ToValidUTF8(v[:min(len(v), headerText)], "\uFFFD"))
		}
	}
	server := strings.Join(parts, ", ")
	s.name.CompareAndSwap(nil, &server)
}

// ServedBy has the headers Server and Via of the first answer, empty without them.
func (c *Client) ServedBy() string {
	name := c.servedBy.name.Load()
	if name == nil {
		return ""
	}
	return c.opts.Secrets.Hide(*name)
}
