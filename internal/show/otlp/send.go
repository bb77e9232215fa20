package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Endpoint is the URL of a collector as a user names it: http or https, with the path of its
// metrics, or without one for /v1/metrics.
func Endpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("must be an HTTP URL such as http://localhost:4318")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/metrics"
	}
	return u, nil
}

// Headers reads headers as OTEL_EXPORTER_OTLP_HEADERS has them: name=value, with commas between
// and values percent-encoded.
func Headers(text string) (http.Header, error) {
	h := http.Header{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, errors.New("must be name=value, with commas between and values percent-encoded")
		}
		h.Add(strings.TrimSpace(name), value)
	}
	return h, nil
}

// Options are how a collector is reached.
type Options struct {
	Header http.Header // beside those of OTLP; nil: none
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Proxy  func(*url.URL) (*url.URL, error)
}

// An Exporter sends values of one run to a collector. It is for one goroutine.
type Exporter struct {
	url     *url.URL
	header  http.Header
	client  *http.Client
	encoder *encoder
}

// How long a collector may take, and how often and for how long it may ask to wait.
const (
	patience  = 10 * time.Second
	mostTries = 4
	longest   = 30 * time.Second
)

// New returns an Exporter for a run; its ID, Name, Started, Plan.Model and Env.Pitot are used. The
// start must be known.
func New(to *url.URL, run trace.Run, o Options) (*Exporter, error) {
	if run.Started.IsZero() {
		return nil, fmt.Errorf("run %s: when it began is not known", run.ID)
	}
	t := &http.Transport{DialContext: o.Dial, IdleConnTimeout: patience}
	if o.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return o.Proxy(r.URL) }
	}
	header := http.Header{}
	maps.Copy(header, o.Header)
	header.Set("Content-Type", "application/x-protobuf")
	header.Set("Content-Encoding", "gzip")
	header.Set("User-Agent", "pitot/"+run.Env.Pitot)
	asItIs := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Exporter{to, header, &http.Client{Transport: t, Timeout: patience, CheckRedirect: asItIs}, newEncoder(run)}, nil
}

// Close closes the connections to the collector.
func (e *Exporter) Close() { e.client.CloseIdleConnections() }

// An Outcome is what became of values.
type Outcome struct {
	Sent     int    // data points that the collector took, or took and rejected
	Rejected int    // of these, as it said
	Message  string // what it said of them, or beside them: one line
}

// Send sends values, in requests of at most a few thousand. Those of one series must come in the
// order of their instants, also over several calls. A collector that has too much to do (429, 503)
// is asked again when it says, three times and after at most 30 s each. The first error ends it: one
// line, without the password of the URL.
func (e *Exporter) Send(ctx context.Context, values []telemetry.Value) (out Outcome, err error) {
	for len(values) > 0 {
		body, n := e.encoder.request(values)
		rejected, message, err := e.deliver(ctx, body)
		if err != nil {
			return out, fmt.Errorf("collector %s: %w", e.url.Redacted(), err)
		}
		out.Sent, out.Rejected, values = out.Sent+n, out.Rejected+rejected, values[n:]
		out.Message = cmp.Or(message, out.Message)
	}
	return out, nil
}

// SendAll is Send for more values than should be in memory at once.
func (e *Exporter) SendAll(ctx context.Context, values iter.Seq[telemetry.Value]) (out Outcome, err error) {
	some := make([]telemetry.Value, 0, mostPoints)
	flush := func() {
		var one Outcome
		one, err = e.Send(ctx, some)
		out = Outcome{out.Sent + one.Sent, out.Rejected + one.Rejected, cmp.Or(one.Message, out.Message)}
		some = some[:0]
	}
	for v := range values {
		if some = append(some, v); len(some) == mostPoints {
			if flush(); err != nil {
				return out, err
			}
		}
	}
	flush()
	return out, err
}

// deliver sends one request until it is answered.
func (e *Exporter) deliver(ctx context.Context, body []byte) (rejected int, message string, err error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(body); err != nil {
		return 0, "", err
	}
	if err := z.Close(); err != nil {
		return 0, "", err
	}
	for try := 1; ; try++ {
		answer, text, err := e.post(ctx, packed.Bytes())
		if err != nil {
			return 0, "", err
		}
		if answer.StatusCode/100 == 2 {
			rejected, message := partial(text)
			return rejected, message, nil
		}
		err = refused(answer, text)
		wait, again := retryAfter(answer, try)
		if !again || try == mostTries {
			return 0, "", err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, "", fmt.Errorf("%w (%w)", err, context.Cause(ctx)) // in one line
		}
	}
}

// most of an answer is read.
const most = 64 << 10

func (e *Exporter) post(ctx context.Context, body []byte) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(r.Header, e.header)
	answer, err := e.client.Do(r)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // without the URL
		}
		return nil, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, most))
	return answer, text, err
}

// retryAfter says whether an answer asks for another try, and after what time.
func retryAfter(answer *http.Response, try int) (wait time.Duration, again bool) {
	if c := answer.StatusCode; c != http.StatusTooManyRequests && c != http.StatusServiceUnavailable {
		return 0, false
	}
	wait = time.Second << (try - 1)
	text := answer.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(seconds, int(2*longest/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return max(wait, 0), wait <= longest
}

// partial is the partial_success of an ExportMetricsServiceResponse.
func partial(body []byte) (rejected int, message string) {
	fields(body, func(f protowire.Number, _ uint64, success []byte) {
		if f != 1 {
			return
		}
		fields(success, func(f protowire.Number, n uint64, text []byte) {
			switch f {
			case 1:
				rejected = int(min(n, mostPoints))
			case 2:
				message = line(text)
			}
		})
	})
	return rejected, message
}

// refused is the error of an answer: its status, with what it says.
func refused(answer *http.Response, body []byte) error {
	said := body
	if strings.Contains(answer.Header.Get("Content-Type"), "protobuf") { // a google.rpc.Status
		said = nil
		fields(body, func(f protowire.Number, _ uint64, text []byte) {
			if f == 2 {
				said = text
			}
		})
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	if text := line(said); text != "" {
		return fmt.Errorf("%s: %s", status, text)
	}
	return errors.New(status)
}

// line is text of a collector as one short line.
func line(text []byte) string {
	const room = 200
	words := strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text[:min(len(text), 4*room)]), "")))
	out := []rune(strings.Join(words, " "))
	if len(out) > room {
		return string(out[:room]) + " …"
	}
	return string(out)
}
