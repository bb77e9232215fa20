//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long anything on a page may take on a busy machine.
const patience = 30 * time.Second

// chromium is the browser: that of PITOT_BROWSER, or one on the path.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("PITOT_BROWSER"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no browser; install chromium, or name one in PITOT_BROWSER")
	return ""
}

// launch starts the browser, which ends with the test.
func launch(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(patience))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return ctx
}

// A tab is a page in the browser, with what went wrong on it.
type tab struct {
	t       *testing.T
	ctx     context.Context
	mu      sync.Mutex
	trouble []string
	foreign []string // addresses of other hosts that were asked
}

// newTab opens an empty tab; at its end nothing may have gone wrong on it.
func newTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	p := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, what := range p.trouble {
			t.Errorf("the page: %s", what)
		}
		for _, what := range p.foreign {
			t.Errorf("the page asked %s", what)
		}
		cancel()
	})
	return p
}

// hear takes what the browser says of the page.
func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.trouble = append(p.trouble, exception(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			var said []string
			for _, a := range e.Args {
				said = append(said, string(a.Value)+a.Description)
			}
			p.trouble = append(p.trouble, strings.Join(said, " "))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.trouble = append(p.trouble, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		for _, own := range []string{"http://127.0.0.1:", "https://127.0.0.1:", "data:", "blob:", "file:"} {
			if strings.HasPrefix(e.Request.URL, own) {
				return
			}
		}
		p.foreign = append(p.foreign, e.Request.URL)
	}
}

// forgive takes back what went wrong so far: a test that refuses something expects it.
func (p *tab) forgive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = nil
}

// run does something in the tab.
func (p *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%v\n%s", err, p.text())
	}
}

// get is what an action gives.
func get[T any](p *tab, a chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, a)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.text())
	}
	return value
}

// call runs a command of the protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, command, params); err != nil {
		p.t.Fatal(err)
	}
}

// text is all that can be read on the page.
func (p *tab) text() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	return text
}

// eval is the value of an expression, which may be a promise.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	return get(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits for an expression to become true; while the page changes it has no value.
func (p *tab) until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		switch {
		case is:
			return
		case ctx.Err() != nil:
			p.t.Fatalf("waited for %s: %v\n%s", expression, err, p.text())
		}
		if err := chromedp.Do(ctx, chromedp.Sleep(50*time.Millisecond)); err != nil {
			continue // its time is over
		}
	}
}

// reads waits for a text on the page.
func (p *tab) reads(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.body.innerText.includes(%s)`, quoted(text)))
}

// open goes to an address and waits for its heading.
func (p *tab) open(address string) {
	p.t.Helper()
	p.run(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	p.until(`document.querySelector('h1') && !document.querySelector('[aria-busy=true]') && document.readyState === 'complete'`)
}

// keys presses keys one after the other: those of a text, or one that has a name of several letters,
// such as Enter. A key whose press a page takes types nothing.
func (p *tab) keys(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key}
		if len(key) == 1 {
			down.Text = key
		}
		if key == "Enter" {
			down.Text = "\r"
		}
		call(p, input.DispatchKeyEvent, down)
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key})
	}
}

// A look is how a page is looked at.
type look struct {
	width, height int64
	dark          bool
	language      string
}

func (l look) String() string {
	theme := "light"
	if l.dark {
		theme = "dark"
	}
	return fmt.Sprintf("%d-%s-%s", l.width, theme, l.language)
}

// as sets how the page is looked at.
func (p *tab) as(l look) {
	p.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: l.height, DeviceScaleFactor: 1, Mobile: l.width < 600})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	call(p, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: "e2e", AcceptLanguage: l.language})
}

// picture keeps a picture of the page in the folder of PITOT_PICTURES, if there is one.
func (p *tab) picture(name string) {
	p.t.Helper()
	folder := os.Getenv("PITOT_PICTURES")
	if folder == "" {
		return
	}
	data := get(p, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644); err != nil {
		p.t.Error(err)
	}
}

// narrow wants a page that is no wider than its window.
func (p *tab) narrow() {
	p.t.Helper()
	if over := eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		widest := eval[string](p, `[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest('.scroll')).map(e => e.tagName + '.' + e.className).slice(0, 3).join(' ')`)
		p.t.Errorf("the page is %d pixels wider than its window: %s", over, widest)
	}
}

// accessible wants nothing serious of axe-core.
func (p *tab) accessible() {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](axe(p.t)))
	type violation struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	var found struct{ Violations []violation }
	text := eval[string](p, `axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify({violations: r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => ({html: n.html}))}))}))`)
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range found.Violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			p.t.Errorf("axe: %s (%s): %s: %d times, such as %s", v.ID, v.Impact, v.Help, len(v.Nodes), v.Nodes[0].HTML)
		}
	}
}

// axe is the source of axe-core, which make e2e installs with the page's packages.
var axe = func() func(t *testing.T) string {
	var source string
	return func(t *testing.T) string {
		t.Helper()
		if source == "" {
			data, err := os.ReadFile("../../../web/node_modules/axe-core/axe.min.js")
			if err != nil {
				t.Fatal(err)
			}
			source = string(data)
		}
		return source
	}
}()

// quoted is a text as JavaScript has it.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string: cannot fail
	return string(b)
}

// exception is what was thrown.
func exception(d *runtime.ExceptionDetails) string {
	if d.Exception == nil {
		return d.Text
	}
	return d.Text + " " + d.Exception.Description
}
