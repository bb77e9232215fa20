//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// otherSite is a site that sends whoever opens / to an address, and has an empty page at /quiet; its
// name, localhost, makes it another site than 127.0.0.1.
func otherSite(t *testing.T, address string) (site string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			fmt.Fprintf(w, `<script>location = %s</script>`, quoted(address))
			return
		}
		_, _ = io.WriteString(w, "<h1>quiet</h1>")
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// The printed address opens the page, typed or by a link on another site, and stays without its
// token; the token is out of reach of scripts.
func TestTheTokenOpensThePage(t *testing.T) {
	w := stored(t)
	address := w.ui(t, "--token")
	bare, _, _ := strings.Cut(address, "?")
	for name, from := range map[string]string{"typed": address, "by a link": otherSite(t, address)} {
		t.Run(name, func(t *testing.T) {
			p := newTab(t, launch(t)) // a browser of its own: without the cookie
			p.run(chromedp.Navigate(from))
			p.until(fmt.Sprintf(`document.querySelector('h1') && location.href.startsWith(%s)`, quoted(bare)))
			p.reads("cap") // answers come too
			if at := eval[string](p, `location.href + document.cookie`); strings.Contains(at, "token") || strings.Contains(at, "pitot-") {
				t.Errorf("the page has %s", at)
			}
			p.forgetForeign("http://localhost:")
		})
	}
	t.Run("without", func(t *testing.T) {
		p := newTab(t, launch(t))
		p.run(chromedp.Navigate(bare))
		p.reads("no valid token")
		p.forgive()
	})
}

// A page of another site gets nothing from ours, can change nothing there, and cannot frame it.
func TestAnotherSiteGetsNothing(t *testing.T) {
	w := stored(t)
	address := w.ui(t, "--write")
	site := otherSite(t, address)
	p := newTab(t, launch(t))
	p.open(site + "/quiet")
	for name, script := range map[string]string{
		"an answer":  `fetch(A + 'api/runs').then(() => 'answered', () => 'refused')`,
		"an image":   `new Promise(done => { const i = new Image(); i.onload = () => done('answered'); i.onerror = () => done('refused'); i.src = A + 'api/runs' })`,
		"a script":   `new Promise(done => { const s = document.createElement('script'); s.onload = () => done('answered'); s.onerror = () => done('refused'); s.src = A + 'page.js'; document.head.append(s) })`,
		"a stream":   `new Promise(done => { const e = new EventSource(A + 'api/events'); e.onopen = () => done('answered'); e.onerror = () => { e.close(); done('refused') } })`,
		"a change":   `fetch(A + 'api/runs/first/labels', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"tags":["stolen"]}'}).then(() => 'answered', () => 'refused')`,
		"plain text": `fetch(A + 'api/runs/first/labels', {method: 'POST', mode: 'no-cors', body: '{"tags":["stolen"]}'}).then(() => 'refused', () => 'refused')`,
		"a frame":    `new Promise(done => { const f = document.createElement('iframe'); f.onload = () => { let seen = 'refused'; try { if (f.contentDocument) seen = 'answered' } catch {} ; done(seen) }; f.src = A; document.body.append(f) })`,
	} {
		if got := eval[string](p, `(A => `+script+`)(`+quoted(address)+`)`); got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if tags := w.pitot(t, "runs", "tag", "first"); strings.Contains(tags, "stolen") {
		t.Error(tags)
	}
	p.forgive()
	p.forgetForeign("http://localhost:")
}

// forgetForeign takes back that a site was asked which is a part of the test.
func (p *tab) forgetForeign(site string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.foreign[:0]
	for _, one := range p.foreign {
		if !strings.HasPrefix(one, site) {
			kept = append(kept, one)
		}
	}
	p.foreign = kept
}
