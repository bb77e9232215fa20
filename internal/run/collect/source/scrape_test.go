package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/test/memnet"
)

const ms = time.Millisecond

// served is a collector of a handler, in virtual time.
func served(t *testing.T, handler http.HandlerFunc, cfg Config) *Exporter {
	t.Helper()
	l := memnet.Listen()
	srv := &http.Server{Handler: handler}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	cfg.Dial = l.Dial
	if cfg.URL == "" {
		cfg.URL = "http://gpu1:9400"
	}
	if cfg.Name == "" {
		cfg.Name = "server"
	}
	x, err := NewScraper(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// says answers with a page.
func says(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }
}

// collected is what a collector gives within a time, of which nothing lies before zero.
func collected(t *testing.T, x collect.Collector, every, how time.Duration) (*telemetry.Set, telemetry.Source) {
	t.Helper()
	zero := time.Now()
	g := collect.Start(t.Context(), every, []collect.Collector{x})
	time.Sleep(how)
	set := g.End(zero)
	return set, set.Sources[0]
}

func scrapeCodes(s telemetry.Source) (all []plan.Code) {
	for _, n := range s.Notes {
		all = append(all, n.Code)
	}
	return all
}

// The server reads its clock 30 ms after the request was sent, and 10 ms before the answer is
// there: the middle is 10 ms too early, and the bound 20 ms.
func TestInstantsAreInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		x := served(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/metrics" || r.Header.Get("X-Key") != "k" {
				t.Error(r.URL, r.Header)
			}
			time.Sleep(30 * ms)
			page := fmt.Sprintf("vllm:num_requests_running %v\n", time.Since(begun).Seconds())
			time.Sleep(10 * ms)
			_, _ = io.WriteString(w, page)
		}, Config{Header: http.Header{"X-Key": {"k"}}})
		set, source := collected(t, x, time.Second, 5500*ms)
		s := set.Named(telemetry.ServerRunning)
		if len(s) != 1 || len(s[0].Points) != 6 || source.Reads != 6 || source.Lost != 0 || len(source.Notes) != 0 {
			t.Fatalf("%+v %v", source, s)
		}
		for i, p := range s[0].Points {
			if truth := time.Duration(p.Value * float64(time.Second)); (p.At-truth).Abs() > source.Clock.Bound || p.At != time.Duration(i)*time.Second+20*ms {
				t.Errorf("%v at %v, bound %v", truth, p.At, source.Clock.Bound)
			}
		}
		if source.Clock.Own || source.Clock.Bound != 20*ms || source.Host != "gpu1" || source.Via != "http://gpu1:9400/metrics" {
			t.Errorf("%+v", source)
		}
	})
}

// Stamps are brought to the run's clock, 5 s off as they are, and the bound holds the truth. The
// exporter refreshes its samples every 1.3 s.
func TestStampsOfAnotherClock(t *testing.T) {
	for _, offset := range []time.Duration{-5 * time.Second, -300 * ms, 0, 4700 * ms} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			x := served(t, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(3 * ms)
				now := time.Since(begun)
				taken := now.Truncate(1300 * ms)
				w.Header().Set("Date", begun.Add(now+offset).UTC().Format(http.TimeFormat))
				_, _ = fmt.Fprintf(w, "npu_chip_info_power{id=\"0\"} %v %d\nmachine_npu_nums 1\n", taken.Seconds()+1, begun.Add(taken+offset).UnixMilli())
			}, Config{Keep: []string{"machine*"}})
			set, source := collected(t, x, time.Second, time.Minute)
			if n := set.Named("machine_npu_nums")[0].Points; len(n) < 60 {
				t.Errorf("%d points without stamps", len(n))
			}
			s := set.Named(telemetry.DevicePower)
			if len(s) != 1 || len(s[0].Points) < 40 || len(source.Notes) != 0 || !source.Clock.Own {
				t.Fatalf("%v: %+v, %d series", offset, source, len(s))
			}
			for _, p := range s[0].Points {
				if off := p.At - time.Duration((p.Value-1)*float64(time.Second)); off.Abs() > source.Clock.Bound+ms {
					t.Errorf("%v: off by %v, bound %v", offset, off, source.Clock.Bound)
				}
			}
			if source.Clock.Bound > 80*ms || (source.Clock.Offset+offset).Abs() > source.Clock.Bound {
				t.Errorf("%v: %+v", offset, source.Clock)
			}
		})
	}
}

// Stamped values that are shown and not kept do not wait until their clock is known well.
func TestLiveStamps(t *testing.T) {
	for live, want := range map[bool]int{true: 3, false: 0} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(500 * ms) // where Dates of whole seconds say little
			x := served(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
				_, _ = fmt.Fprintf(w, "npu_chip_info_power{id=\"0\"} 1 %d\n", time.Now().Add(-800*ms).UnixMilli())
			}, Config{Live: live})
			ctx, cancel := context.WithCancel(t.Context())
			var readings atomic.Int64
			go func() {
				time.Sleep(2500 * ms)
				if n := int(readings.Load()); n != want {
					t.Errorf("live %v: %d readings", live, n)
				}
				cancel()
			}()
			_ = x.Collect(ctx, time.Second, func(collect.Reading) { readings.Add(1) })
		})
	}
}

// What a source does wrong is a line each, and the others are unharmed.
func TestTroubleIsALine(t *testing.T) {
	packed := func(text string) http.HandlerFunc {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(b.Bytes())
		}
	}
	growing := 0.0
	for what, tt := range map[string]struct {
		handler http.HandlerFunc
		want    plan.Code
		points  int
	}{
		"well":       {says("vllm:num_requests_running 1\n"), "", 3},
		"packed":     {packed("vllm:num_requests_running 1\n"), "", 3},
		"hangs":      {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Slow, 0},
		"drips":      {drip, Slow, 0},
		"50 MB":      {large, "telemetry.page-large", 0},
		"says 50 MB": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "52428800") }, "telemetry.page-large", 0},
		"bomb":       {packed(strings.Repeat("a_total 1\n", 1<<19)), "telemetry.page-large", 0},
		"not gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			says("a 1\n")(w, nil)
		}, "telemetry.page-syntax", 0},
		"brotli": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			says("a 1\n")(w, nil)
		}, NoAnswer, 0},
		"HTML":       {says("<html><body>no</body></html>\n"), "telemetry.page-html", 0},
		"NaN":        {says("vllm:kv_cache_usage_perc NaN\nvllm:num_requests_running 1\n"), collect.NotANumber, 3},
		"duplicates": {says("vllm:num_requests_running 1\nvllm:num_requests_running 2\n"), "telemetry.page-duplicate", 3},
		"503":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, Status, 0},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other/metrics", http.StatusFound)
		}, Elsewhere, 0},
		"in a circle": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/metrics", http.StatusFound) }, Elsewhere, 0},
		"unknown":     {says("something 1\n"), Nothing, 0},
		"no date": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Date"] = nil
			says("npu_chip_info_power{id=\"0\"} 1 1700000000000\nvllm:num_requests_running 1\n")(w, nil)
		}, NoDate, 3},
		"too old": {says("npu_chip_info_power{id=\"0\"} 1 1606402\nvllm:num_requests_running 1\n"), Stale, 3},
		"ahead":   {says("npu_chip_info_power{id=\"0\"} 1 9999999999999\nvllm:num_requests_running 1\n"), Misdated, 3},
		"restarts": {func(w http.ResponseWriter, _ *http.Request) {
			if growing++; growing == 3 {
				growing = 0
			}
			_, _ = fmt.Fprintf(w, "vllm:num_requests_running 1\nvllm:prompt_tokens_total %v\n", growing)
		}, collect.Restarts, 3},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, source := collected(t, served(t, tt.handler, Config{}), time.Second, 2500*ms)
				if got := scrapeCodes(source); tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || got[0] != tt.want) {
					t.Errorf("%v, want %s", got, tt.want)
				}
				points := 0
				if s := set.Named(telemetry.ServerRunning); len(s) > 0 {
					points = len(s[0].Points)
				}
				if points != tt.points || len(set.Named(telemetry.DevicePower)) != 0 {
					t.Errorf("%d points, want %d; %+v", points, tt.points, source)
				}
			})
		})
	}
}

// large sends 50 MB, as far as they are taken.
func large(w http.ResponseWriter, _ *http.Request) {
	piece := strings.Repeat("a_total 1\n", 1e5)
	for range 50 {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}

// drip sends a byte every 300 ms.
func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, "a")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(300 * ms)
	}
}

// A source that is away is asked at growing pauses up to 10 s, and sampled again when it is back.
func TestASourceComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var asked []time.Duration
		x := served(t, func(w http.ResponseWriter, _ *http.Request) {
			now := time.Since(begun).Round(ms)
			if now > 3500*ms && now < time.Minute {
				asked = append(asked, now)
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			says("vllm:num_requests_running 1\n")(w, nil)
		}, Config{})
		set, source := collected(t, x, time.Second, 80500*ms)
		want := []time.Duration{4, 5, 7, 11, 19, 29, 39, 49, 59}
		for i := range want {
			want[i] *= time.Second
		}
		if d := cmp.Diff(want, asked); d != "" {
			t.Error(d)
		}
		if n := len(set.Named(telemetry.ServerRunning)[0].Points); n != 4+12 || source.Lost != 9 || source.Reads != n {
			t.Errorf("%d points, %+v", n, source)
		}
		if d := cmp.Diff([]plan.Message{plan.Msg(Status, "status", 502, "since", 4)}, source.Notes); d != "" {
			t.Error(d)
		}
	})
}

// A request that takes long is not joined by another, and the next one comes at once.
func TestRequestsDoNotStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy, most, all atomic.Int32
		x := served(t, func(w http.ResponseWriter, _ *http.Request) {
			most.Store(max(most.Load(), busy.Add(1)))
			all.Add(1)
			time.Sleep(700 * ms)
			busy.Add(-1)
			says("vllm:num_requests_running 1\n")(w, nil)
		}, Config{})
		_, source := collected(t, x, 250*ms, 7100*ms)
		time.Sleep(time.Second)
		if most.Load() != 1 || all.Load() != 11 || source.Reads != 10 {
			t.Errorf("%d at a time, %d in all, %+v", most.Load(), all.Load(), source)
		}
	})
}

// A collector ends with its context, whatever the server does, and lets go of its connections.
func TestCollectingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := served(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- x.Collect(ctx, time.Minute, func(r collect.Reading) { t.Errorf("%+v", r) }) }()
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
		select {
		case err := <-over:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("it goes on")
		}
	})
}

// Certificates are checked against those that are given, unless that is turned off; a redirect
// to a path of the same host is followed with the headers.
func TestOverTLS(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			http.Redirect(w, r, "/metrics/", http.StatusTemporaryRedirect)
			return
		}
		if r.Header.Get("Authorization") == "Bearer sesame" {
			says("vllm:num_requests_running 1\n")(w, r)
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	for what, config := range map[string]*tls.Config{"ca": {RootCAs: pool}, "insecure": {InsecureSkipVerify: true}, "": nil} {
		x, err := NewScraper(Config{URL: srv.URL, TLS: config, Header: http.Header{"Authorization": {"Bearer sesame"}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = x.Collect(ctx, time.Second, func(r collect.Reading) {
			if good := what != ""; (len(r.Values) == 1) != good || r.Trouble.IsZero() != good {
				t.Errorf("%q: %+v", what, r)
			}
			cancel()
		})
		if err != nil || x.Describe().Host != "" {
			t.Error(err)
		}
	}
}

// No message has a secret.
func TestSecretsAreHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := &secret.Set{}
		known.Add("open-sesame-99")
		x := served(t, says("vllm:num_requests_running open-sesame-99\n"), Config{URL: "http://user:pa55word-7@gpu1/m?token=open-sesame-99&x=1", Secrets: known})
		_, source := collected(t, x, time.Second, 1500*ms)
		all := fmt.Sprint(source.Via, source.Notes)
		if len(source.Notes) != 1 || strings.Contains(all, "open-sesame") || strings.Contains(all, "pa55word") || !strings.Contains(source.Via, "gpu1/m") {
			t.Error(all)
		}
	})
}

func TestBadConfigurations(t *testing.T) {
	for cfg, want := range map[*Config]string{
		{URL: "gpu1:9400"}:                      "metrics URL",
		{URL: "ftp://gpu1"}:                     "must begin with http:// or https:// and a host",
		{URL: "http://gpu1:99999"}:              "no such port; ports are 1 to 65535",
		{URL: "http://"}:                        "and a host",
		{URL: "http://a", Keep: []string{"[x"}}: `pattern "[x"`,
	} {
		if _, err := NewScraper(*cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	if next, via := mustURL("http://a/x"), mustURL("https://a/"); follow(&http.Request{URL: next}, []*http.Request{{URL: via}}) == nil {
		t.Error("from TLS to plain text")
	}
}

func mustURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u
}

// A page that takes long to read is read less often; one slow reading among others changes nothing.
func TestCostlyPages(t *testing.T) {
	const ms = time.Millisecond
	for _, x := range []struct {
		costs []time.Duration
		want  time.Duration
	}{
		{nil, 0},
		{[]time.Duration{300 * ms, 300 * ms}, 0},
		{[]time.Duration{300 * ms, 240 * ms, 250 * ms}, 4800 * ms},
		{[]time.Duration{2 * ms, 900 * ms, 900 * ms}, 0},
		{[]time.Duration{2 * ms, 90 * ms, 90 * ms, 90 * ms}, 1800 * ms},
		{[]time.Duration{time.Hour, time.Hour, time.Hour}, mostPause},
	} {
		var c cost
		for _, busy := range x.costs {
			c.add(busy)
		}
		if got := c.pause(); got != x.want {
			t.Errorf("%v: %v, want %v", x.costs, got, x.want)
		}
	}
	var said []collect.Reading
	s := session{reported: map[plan.Code]bool{}, give: func(r collect.Reading) { said = append(said, r) }}
	for range 3 {
		s.cost.add(240 * ms)
	}
	s.restrained(s.cost.pause())
	s.restrained(s.cost.pause())
	if len(said) != 1 || said[0].Trouble.Key() != plan.Msg(Costly, "busy", 240*ms, "every", 4800*ms).Key() {
		t.Error(said)
	}
}
