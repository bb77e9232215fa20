package endpoint

import (
	"net/http"
	"strings"
	"testing"
)

func TestServedByTellsTheFirstAnswersHeaders(t *testing.T) {
	var c Client
	if got := c.ServedBy(); got != "" {
		t.Errorf("before an answer: %q", got)
	}
	c.servedBy.note(http.Header{"Server": {"nginx/1.22\xff"}, "Via": {"1.1 " + strings.Repeat("a", 1000)}})
	c.servedBy.note(http.Header{"Server": {"another"}})
	if got, want := c.ServedBy(), "Server: nginx/1.22\uFFFD, Via: 1.1 "+strings.Repeat("a", headerText-4); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
