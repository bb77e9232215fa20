// Package live draws the current state of a run in progress, and of watched servers, devices and
// hosts.
//
//	records ──> figures ─┐
//	counts ──────────────┼──> runState ──> lines ──> Console       (Display)
//	samples ──> server ──┘
//	View ─────────────────────────────> WatchLines, Line, JSON
//
// A Display is drawn by the measuring process, so it must cost little: a record is added to
// histograms as it comes; everything else happens at most four times a second. Lines are a pure
// function of values and a Paper, which is the size of the terminal: pieces in colours, cut where it
// ends. Foreign text is made harmless here, because drawings bypass plain.Writer. Unknown is "-",
// and null in JSON.
package live

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Mode is a way to show a run.
type Mode string

// The modes. Without a terminal Auto and Live are Plain.
const (
	Auto  Mode = "auto"  // the view if there is room for it, else the line
	Live  Mode = "live"  // the view, however small the terminal is
	Plain Mode = "plain" // the line
	Off   Mode = "off"   // nothing
)

// A Subject is the run to show.
type Subject struct {
	Run    *trace.Run // unchanged while it is shown
	Load   Load
	Counts func() trace.Snapshot
	// CPU returns the processor time that this process has used and the number of processors it
	// may use.
	CPU  func() (used time.Duration, processors int)
	Lang *words.Language
	// Whole is how far the experiment is that the run is part of; nil of a single run.
	Whole func() string
}

// A Display shows how a run goes.
type Display struct {
	Subject
	console *Console
	mode    Mode
	ending  atomic.Bool // nothing more is sent
	start   time.Time
	used    time.Duration // CPU, at the start
	server  sampled

	mu      sync.Mutex // guards the figures
	figures figures

	// Only the drawing goroutine uses what follows.
	recent recent
	past   history
	queue  *queue
	head   head
	health health

	over chan struct{}
	loop sync.WaitGroup
}

// How often something is drawn.
const (
	viewEvery  = 250 * time.Millisecond
	drawEvery  = 200 * time.Millisecond
	printEvery = 5 * time.Second
)

// Start begins to show a run.
func Start(c *Console, s Subject, mode Mode) *Display {
	views := c.term != nil && (mode == Auto || mode == Live)
	p := &Display{
		Subject: s, console: c, mode: mode, start: time.Now(), over: make(chan struct{}),
		figures: newFigures(s.Run, views), recent: recent{{}},
	}
	every := printEvery
	switch {
	case views:
		every = viewEvery
		p.queue, p.head = newQueue(s.Load), headOf(s, c.hide)
		p.used, _ = s.CPU()
	case c.term != nil:
		every = drawEvery
	}
	p.loop.Go(func() { p.show(every) })
	return p
}

// Record adds a finished request to the figures.
func (p *Display) Record(r *trace.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.figures.add(r)
}

// Sampled adds new samples of telemetry.
func (p *Display) Sampled(sources []telemetry.Source, values []telemetry.Value) {
	if p.figures.detailed {
		p.server.add(sources, values, time.Since(p.start))
	}
}

// show draws until the run is over. While the process was stopped, as by ctrl-z, a shell has written
// below the view. When it continues, the tick may be seen before SIGCONT.
func (p *Display) show(every time.Duration) {
	if p.queue != nil {
		defer p.queue.stop()
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var resumed <-chan struct{}
	if p.console.term != nil {
		resumed = p.console.term.Resumed()
	}
	last := time.Now()
	for {
		select {
		case <-resumed:
			p.console.forget()
		case <-tick.C:
			if resumed != nil && time.Since(last) > 2*every {
				p.afterAGap(resumed)
			}
			p.draw()
			last = time.Now()
		case <-p.over:
			return
		}
	}
}

// afterAGap gives SIGCONT time to arrive.
func (p *Display) afterAGap(resumed <-chan struct{}) {
	wait := time.NewTimer(50 * time.Millisecond)
	defer wait.Stop()
	select {
	case <-resumed:
		p.console.forget()
	case <-wait.C:
	case <-p.over:
	}
}

// Ending says that nothing more is sent.
func (p *Display) Ending() { p.ending.Store(true) }

// Stop ends the display and erases it.
func (p *Display) Stop() {
	close(p.over)
	p.loop.Wait()
	p.console.Clear()
}

// The smallest terminals for the view: in mode Auto, and in mode Live.
const (
	autoColumns, autoRows = 60, 16
	leastColumns          = 20
	leastRows             = 5
)

// draw draws the view if the terminal has room for it, else the line.
func (p *Display) draw() {
	paper, ok := p.paper()
	if !ok {
		p.console.drawLine(p.line()...)
		return
	}
	p.console.drawBlock(p.state(p.console.marked()).lines(paper))
}

// paper is the area for the view, false if the line is to be drawn. The last column stays free, so
// that no line wraps, and the last row, for the cursor.
func (p *Display) paper() (Paper, bool) {
	term := p.console.term
	if !p.figures.detailed {
		return Paper{}, false
	}
	columns, rows := term.Size()
	ok := columns >= autoColumns && rows >= autoRows || p.mode == Live && columns >= leastColumns && rows >= leastRows
	return Paper{Columns: columns - 1, Rows: rows - 1, Colors: term.Colors, ASCII: term.ASCII, Lang: p.Lang}, ok
}

// now returns the counts of this moment. The figures must be locked.
func (p *Display) now() (trace.Snapshot, course) {
	s, f := p.Counts(), &p.figures
	return s, course{
		Load: p.Load, elapsed: time.Since(p.start), sent: s.Released, done: s.Done, tokens: s.Tokens,
		settled: f.settled, answers: f.answers, whole: f.tokens, ending: p.ending.Load(),
	}
}
