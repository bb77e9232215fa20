//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var long = flag.Bool("long", false, "look at each page in every look, not in one")

// looks are each theme, language and width.
var looks = []look{
	{1280, 900, false, "en"},
	{1280, 900, true, "zh"},
	{390, 844, true, "en"},
	{390, 844, false, "zh"},
}

// pages are addresses of each page, by a name.
var pages = map[string]string{
	"runs":        "#/runs",
	"timeline":    "#/runs/first?section=timeline",
	"run":         "#/runs/first",
	"measured":    "#/runs/measured",
	"request":     "#/runs/measured?request=3",
	"compare":     "#/compare?run=first&run=second",
	"imported":    "#/runs/" + url.PathEscape("pasted / before"),
	"tables":      "#/compare?run=pasted",
	"experiments": "#/experiments",
	"experiment":  "#/experiments/slower",
	"note":        "#/note?run=slower",
	"searches":    "#/searches",
	"missed":      "#/runs/missed",
	"unfound":     "#/searches/nothing",
	"sweep":       "#/searches/loads",
	"capacity":    "#/searches/cap",
	"conform":     "#/conform",
	"nothing":     "#/nothing",
}

// Every page can be read in every look, or with the other pages in all of them: nothing goes wrong, nothing is wider than the window,
// axe-core finds nothing serious.
func TestEveryPage(t *testing.T) {
	w := stored(t)
	address := w.ui(t, "--conform", filepath.Join(w.folder, "conform.json"))
	browser := launch(t)
	for i, name := range slices.Sorted(maps.Keys(pages)) {
		for j, l := range looks {
			if !*long && j != i%len(looks) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", name, l), func(t *testing.T) {
				p := newTab(t, browser)
				p.as(l)
				p.open(address + pages[name])
				p.narrow()
				p.accessible()
				p.picture(name + "-" + l.String())
			})
		}
	}
}

// A text of a server, of a file or of a person stays a text wherever it is shown.
func TestHostileTexts(t *testing.T) {
	w := stored(t)
	address := w.ui(t, "--write")
	browser := launch(t)
	name := "hostile " + hostile
	report := filepath.Join(t.TempDir(), "report.html")
	w.pitot(t, "runs", "report", name, "-o", report)
	note := w.imported["hostile.md"]
	imported := filepath.Join(t.TempDir(), "imported.html")
	w.pitot(t, "runs", "report", note, "-o", imported)
	for _, page := range []string{
		address + "#/runs?q=" + url.QueryEscape(hostile), address + "#/runs/" + url.PathEscape(name), address + "#/runs/" + url.PathEscape(name) + "?request=0",
		address + "#/compare?run=first&run=" + url.QueryEscape(name), address + "#/note?run=" + url.QueryEscape(name),
		address + "#/compare?run=hostile&run=pasted", "file://" + imported, address + "#/runs/" + url.PathEscape(note),
		address + "#/runs/" + url.PathEscape(hostile), address + "#/searches/" + url.PathEscape(hostile), address + "#/experiments/" + url.PathEscape(hostile), "file://" + report,
	} {
		t.Run(page[strings.LastIndex(page, "#")+1:], func(t *testing.T) {
			p := newTab(t, browser)
			p.open(page)
			p.until(`document.body.innerText.includes('<img src=x') || [...document.querySelectorAll('input')].some(e => e.value.includes('<img'))`)
			if n := eval[int](p, `(window.hacked ? 1 : 0) + document.querySelectorAll('img[src=x]').length`); n > 0 {
				t.Errorf("a text became markup")
			}
			p.forgive() // what is not there is refused
		})
	}
}

// The page of a run that goes on follows it to its verdict, without being loaded again.
func TestARunIsFollowedToItsEnd(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.open(address + "#/runs")
	done := make(chan error, 1)
	cmd := w.command("bench", "-q", "--rate", "20", "--duration", "8s", "--name", "live")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { done <- cmd.Wait() }()
	p.reads("live") // the list shows it without being asked
	p.run(chromedp.Evaluate[chromedp.Void](`window.same = true; location.hash = '#/runs/live'`))
	p.until(`document.querySelector('main [role=progressbar], main progress')`)
	first := eval[string](p, `document.querySelector('main').innerText`)
	p.until(fmt.Sprintf(`document.querySelector('main').innerText !== %s`, quoted(first)))
	p.until(`!document.querySelector('main [role=progressbar], main progress') && /Valid|Doubtful|Invalid/.test(document.querySelector('main').innerText)`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !eval[bool](p, `window.same === true`) {
		t.Error("the page was loaded again")
	}
	if n := eval[int](p, `document.querySelectorAll('main canvas').length`); n < 5 {
		t.Errorf("%d charts", n)
	}
}

// The list is used without a mouse: search, move, select, compare, open, go back.
func TestKeyboard(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.as(looks[0]) // a table: cards are for narrow windows
	p.open(address + "#/runs")
	p.reads("cap") // the newest runs
	p.keys("/")
	p.until(`document.activeElement.matches('input')`)
	p.keys("f", "i", "r", "s", "t")
	p.until(`document.activeElement.value === 'first'`)
	p.until(`location.hash.includes('first') && document.querySelector('main tbody')?.innerText.includes('first') && !document.querySelector('main tbody').innerText.includes('cap')`)
	p.keys("Enter")
	p.until(`!document.activeElement.matches('input')`)
	p.keys("j")
	p.keys("Enter")
	p.until(`/^#.runs.20/.test(location.hash) && document.querySelector('h1')?.innerText.includes('first')`)
	p.run(chromedp.NavigateBack())
	p.until(`location.hash.includes('q=first') && document.querySelector('main').innerText.includes('first')`)
	p.open(address + "#/runs?experiment=slower")
	p.until(`document.querySelector('main tbody')?.innerText.includes('slower / ')`)
	for range 2 {
		p.keys("j")
		p.keys("x")
	}
	p.keys("c")
	p.until(`location.hash.startsWith('#/compare?run=')`)
	p.keys("?")
	p.until(`document.querySelector('dialog[open]')`)
	p.accessible()
	p.keys("Escape")
	p.until(`!document.querySelector('dialog[open]')`)
	p.keys("g")
	p.keys("r")
	p.until(`location.hash === '#/runs'`)
}

// The page of a run begins with its verdict, the share that met the objectives, in red where it is small, and six figures.
func TestTheFirstScreenOfARun(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.as(looks[0])
	p.open(address + "#/runs/missed")
	p.reads("0.0 % of the requests met TTFT ≤ 1ms, TPOT ≤ 12ms")
	p.until(`document.querySelector('main .met.bad')`)
	p.reads("of the steady state")
	if n := eval[int](p, `[...document.querySelectorAll('section[aria-label="Main figures"] dd')].filter(e => e.getBoundingClientRect().bottom < innerHeight / 2).length`); n != 6 {
		t.Errorf("%d figures in the upper half of the window", n)
	}
}

// The runs of a search are one row of the list, which leads to the search, and to its runs.
func TestRunsOfASearchAreOneRow(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.as(looks[0])
	p.open(address + "#/runs")
	p.until(`document.querySelector('main tbody a[href="#/searches/cap"]')`)
	if got := eval[string](p, `document.querySelector('main tbody').innerText`); strings.Contains(got, "cap/1") || !strings.Contains(got, "capacity search") {
		t.Error(got)
	}
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('main tbody a[href="#/runs?experiment=cap"]').click()`))
	p.until(`document.querySelector('main tbody')?.innerText.includes('cap/1')`)
	p.open(address + "#/runs?sort=-tpot.mean") // single runs, since a figure of each sorts them
	p.until(`document.querySelector('main tbody')?.innerText.includes('cap/1')`)
}

// A search that found nothing is no success, and shows what it measured instead of empty charts.
func TestASearchThatFoundNothing(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.open(address + "#/searches/nothing")
	p.reads("nothing found")
	p.reads("Measured at 1 in flight")
	if text := p.text(); strings.Contains(text, "✓") || eval[int](p, `document.querySelectorAll('main figure').length`) > 0 {
		t.Error(text)
	}
	p.open(address + "#/searches")
	p.reads("nothing found")
}

// On a phone a comparison shows each change and its verdict without being scrolled sideways.
func TestAComparisonOnAPhone(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	for _, l := range looks[2:] {
		p.as(l)
		p.open(address + "#/compare?run=slower")
		p.until(`document.querySelectorAll('main td.change').length > 5`)
		if n := eval[int](p, `[...document.querySelectorAll('main td.change, main td.verdict')].filter(e => e.getBoundingClientRect().right > innerWidth).length`); n > 0 {
			t.Errorf("%s: %d changes and verdicts are out of the window", l, n)
		}
	}
}

// overlaps are texts of charts that lie over each other.
const overlaps = `[...document.querySelectorAll('main svg')].flatMap(svg => {
	const all = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()])
	return all.flatMap(([a, r], i) => all.slice(i + 1).filter(([, s]) => r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 3 && s.top < r.bottom - 3).map(([b]) => a + ' | ' + b))
}).join('\n')`

// Labels of charts do not lie over each other, wide or narrow.
func TestLabelsKeepClearOfEachOther(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	for _, l := range []look{looks[0], looks[2]} {
		p.as(l)
		for _, page := range []string{"#/searches/cap", "#/searches/loads", "#/compare?run=slower"} {
			p.open(address + page)
			p.until(`document.querySelector('main svg text')`)
			if got := eval[string](p, overlaps); got != "" {
				t.Errorf("%s of %s:\n%s", l, page, got)
			}
		}
	}
}

// Tags are written where that is allowed, and stay texts.
func TestTagsAreWritten(t *testing.T) {
	w := stored(t)
	address := w.ui(t, "--write")
	p := newTab(t, launch(t))
	p.as(looks[0])
	p.open(address + "#/runs?q=second")
	p.until(`document.querySelector('main tbody')?.innerText.includes('second')`)
	p.keys("j", "t")
	p.until(`document.querySelector('dialog[open] textarea')`)
	p.accessible()
	p.run(chromedp.SendKeys(chromedp.CSS("dialog textarea"), hostile))
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('dialog input').focus()`))
	p.keys("n", "e", "w", "Enter")
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('dialog form').requestSubmit()`))
	p.until(`!document.querySelector('dialog[open]') && document.querySelector('main tbody').innerText.includes('<img src=x')`)
	if got := w.pitot(t, "runs", "list", "--tag", "new"); !strings.Contains(got, "second") {
		t.Errorf("no run has the tag:\n%s", got)
	}
	if eval[bool](p, `window.hacked === 1 || document.querySelectorAll('img[src=x]').length > 0`) {
		t.Error("a remark became markup")
	}
}

// Another variant is the baseline by one key, and what the page says changes with it.
func TestBaselineIsChanged(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.as(looks[0])
	p.open(address + "#/compare?run=first&run=second")
	p.until(`document.querySelector('main table')?.innerText.includes('mean TTFT')`)
	before := eval[string](p, `document.querySelector('main table').innerText`)
	p.keys("b")
	p.until(`location.hash.includes('baseline=second') && document.querySelector('main table') && document.querySelector('main table').innerText !== ` + quoted(before))
}

// The language and the theme are chosen on the page, and remembered.
func TestChoicesAreRemembered(t *testing.T) {
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.as(looks[0])
	p.open(address + "#/runs/first")
	p.run(chromedp.Evaluate[chromedp.Void](`for (const s of document.querySelectorAll('header select')) for (const o of s.options) if (o.value === 'zh' || o.value === 'dark') { s.value = o.value; s.dispatchEvent(new Event('change', {bubbles: true})) }`))
	for range 2 {
		p.until(`document.documentElement.lang === 'zh' && getComputedStyle(document.documentElement).colorScheme === 'dark' && document.querySelector('nav').innerText.includes('运行')`)
		p.open(address + "#/runs/first")
	}
}

// A report is one file that is opened without any server, and zooms like the page.
func TestReport(t *testing.T) {
	w := stored(t)
	browser := launch(t)
	for _, c := range []struct{ of, reads string }{{"first", "Simulated"}, {"measured", "TTFT"}, {"slower", "after"}} {
		for _, lang := range []string{"en", "zh"} {
			t.Run(c.of+"-"+lang, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "report.html")
				w.pitot(t, "runs", "report", c.of, "-o", file, "--lang", lang)
				if info, err := os.Stat(file); err != nil || info.Size() > 2<<20 {
					t.Fatalf("%v bytes, %v", info.Size(), err)
				}
				p := newTab(t, browser)
				p.open("file://" + file)
				if lang == "en" {
					p.reads(c.reads)
				}
				if got := eval[string](p, `document.documentElement.lang`); got != lang {
					t.Errorf("the language is %s", got)
				}
				p.accessible()
				p.picture("report-" + c.of + "-" + lang)
				if pdf := get(p, chromedp.PrintToPDF()); len(pdf) < 10_000 {
					t.Errorf("printed, it has %d bytes", len(pdf))
				}
			})
		}
	}
}
