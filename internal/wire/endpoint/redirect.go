package endpoint

import (
	"cmp"
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// maxHops is how many redirects of a request are followed: as many as by aiohttp, the client of vLLM's and SGLang's
// benchmarks.
const maxHops = 10

// moved reports a status that sends the request elsewhere, with its method and body (RFC 9110, section 15.4).
func moved(status int) bool {
	return status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
}

// location is where the answer of a URL sends the request, nil if it does not say.
func location(from string, header http.Header) *url.URL {
	base, err := url.Parse(from)
	if text := header.Get("Location"); err == nil && text != "" {
		if to, err := base.Parse(text); err == nil {
			return to
		}
	}
	return nil
}

// next is where a redirected request is sent again: within one origin, since headers have keys.
func next(from string, status int, header http.Header) (to string, ok bool) {
	if !moved(status) {
		return "", false
	}
	base, _ := url.Parse(from)
	at := location(from, header)
	if at == nil || at.Scheme != base.Scheme || at.User.String() != base.User.String() ||
		!strings.EqualFold(at.Hostname(), base.Hostname()) || port(at) != port(base) {
		return "", false
	}
	at.Fragment = ""
	return at.String(), true
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// follow sends a redirected request again until it gets another answer. The latency is that of all exchanges, as a
// client sees it.
func (c *Client) follow(
	ctx context.Context, req *workload.Request, r *reader, first transport.Timing, err error,
) (*reader, transport.Timing, error) {
	timing := first
	for range maxHops {
		to, ok := next(r.url, r.rec.Status, r.header)
		if !ok || err != nil {
			break
		}
		body, wrong := c.Encode(req) // the memory of the first has been given back
		if wrong != nil {
			return r, timing, wrong
		}
		r.charge(0)
		r.rec.Status = 0
		redials := timing.Redials
		r, timing, err = c.exchange(ctx, to, req, body, r.rec)
		timing.Dialed, timing.Connected = first.Dialed, first.Connected
		timing.Sent, timing.FirstSent = first.Sent, first.FirstSent
		timing.Redials += redials
	}
	if r.url != c.opts.URL && !moved(r.rec.Status) { // no circle
		to := r.url
		c.elsewhere.Store(&to)
	}
	return r, timing, err
}

// Elsewhere is where requests were redirected to and sent again, empty if none was.
func (c *Client) Elsewhere() string {
	if to := c.elsewhere.Load(); to != nil {
		return maskedURL(*to)
	}
	return ""
}

// follow makes a call to where it is redirected.
func (s Server) follow(ctx context.Context, req *transport.Request, limit int) (collector, error) {
	for hops := 0; ; hops++ {
		c := collector{limit: limit}
		_, err := s.Transport.Do(ctx, req, &c)
		to, ok := next(req.URL, c.status, c.header)
		if err != nil || !ok || hops == maxHops {
			return c, err
		}
		req.URL = to
	}
}

// maskedURL is a URL as it is shown: without what a query can hold of secrets.
func maskedURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Sprintf("%.200q", text)
	}
	u.User, u.Fragment = nil, ""
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return fmt.Sprintf("%.200s", u)
}

// compressions are the codings of a body that no request asks for.
var compressions = []string{"gzip", "x-gzip", "compress", "deflate", "br", "zstd"}

// compression is the coding of a body that is not to be read, empty for another one.
func compression(header http.Header) string {
	values := header["Content-Encoding"]
	if len(values) == 0 {
		return ""
	}
	if coding := strings.ToLower(strings.TrimSpace(values[0])); slices.Contains(compressions, coding) {
		return coding
	}
	return ""
}

// What the text of a record's error begins with that settings of the run can change.
const (
	NotAStream = "asked for an event stream, got "
	Compressed = "the answer is compressed"
)

// refusal are the words of an answer that is not taken.
func refusal(from string, status int, header http.Header, body []byte) string {
	words := strings.TrimSpace(string(body))
	if coding := compression(header); coding != "" {
		words = Compressed + " (Content-Encoding: " + coding + "), which was not asked for"
	}
	if to := location(from, header); to != nil && status/100 == 3 {
		words = strings.TrimSuffix("redirected to "+maskedURL(to.String())+": "+words, ": ")
	}
	return words
}

func (r *reader) refusal() string { return refusal(r.url, r.rec.Status, r.header, r.body) }

// refuseCompressed ends the reading of a compressed body.
func (r *reader) refuseCompressed() error {
	if r.rec.Status != http.StatusOK {
		return transport.ErrEnough
	}
	return fmt.Errorf("%w: %s", errMalformed, r.refusal())
}

// notAStream says what came in place of a stream, and what the server calls it.
func (r *reader) notAStream() string {
	kind, _, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err != nil || len(kind) > 80 {
		return NotAStream + begin(r.body)
	}
	return NotAStream + kind + ": " + begin(r.body)
}
