package grid

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// straight are characters of lines that are drawn.
var straight = strings.NewReplacer("│", "|", "┃", "|", "║", "|", "╎", "|", "┆", "|", "┊", "|", "▏", "|")

// drawing is what a rule consists of, beside the characters of line drawing.
const drawing = "-=+|:_ \t"

// isRule reports whether a line is one that separates rows.
func isRule(text string) bool {
	line := 0
	for _, r := range text {
		switch {
		case r >= 0x2500 && r <= 0x257f && !strings.ContainsRune("│┃║╎┆┊", r), r == '-', r == '=', r == '+':
			line++
		case !strings.ContainsRune(drawing, r) && !strings.ContainsRune("│┃║╎┆┊", r):
			return false
		}
	}
	return line >= 2 || line == 1 && strings.Contains(text, "|")
}

func hasLines(text string) bool {
	return strings.Contains(text, "\xe2\x94") || strings.Contains(text, "\xe2\x95")
}

var (
	quotation = lazy.Regexp(`^ {0,3}(?:> ?)+`)
	tableTag  = lazy.Regexp(`(?i)<table[\s>]`)
)

func start(n int, text string, above []string) *draft {
	d := &draft{first: n, last: n, above: above}
	trimmed := strings.TrimSpace(Unquoted(text))
	switch {
	case trimmed == "":
		return nil
	case trimmed[0] == '|', hasLines(trimmed) && strings.Contains(straight.Replace(trimmed), "|"), isCorner(trimmed):
		d.form, d.sure, d.enclosed = pipes, true, true
		if trimmed[0] != '|' {
			d.form = boxes
		}
	case strings.Contains(trimmed, "<") && tableTag.MatchString(trimmed):
		d.form, d.sure, d.html = markup, true, &tags{}
	case isListing(d, trimmed):
		d.form = listing
	case strings.Contains(trimmed, "|"):
		d.form = pipes
	case d.addStatement(n, trimmed):
		d.form = statements
		return d
	default:
		if d.separator = separatorOf(trimmed); d.separator == 0 {
			return nil
		}
		d.form = separated
	}
	if !d.add(n, text) {
		return nil
	}
	return d
}

// isCorner reports whether a line is the upper edge of a box.
func isCorner(text string) bool {
	drawn := text[0] == '+' || hasLines(text)
	return drawn && len(text) > 4 && isRule(text) && strings.ContainsAny(text, "+┏╒┌╔┳╤┬╦┡╞")
}

// Unquoted is a line without the marks of a quotation.
func Unquoted(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, " "), ">") {
		return text
	}
	return quotation.ReplaceAllString(text, "")
}

// mostHeads is how many rows a head has at most.
const mostHeads = 4

// add reads a line, and reports whether it belongs to the table.
func (d *draft) add(n int, text string) bool {
	if len(d.rows) >= mostRows {
		return false
	}
	ok := false
	switch text = Unquoted(text); d.form {
	case markup:
		ok = d.addHTML(n, text)
	case listing:
		ok = d.addItem(n, strings.TrimSpace(text))
	case separated:
		ok = d.addSeparated(n, strings.TrimSpace(text))
	case statements:
		if text = strings.TrimSpace(text); text == "" {
			return n == d.last+1
		}
		ok = d.addStatement(n, text)
	default:
		ok = d.addDrawn(n, strings.TrimSpace(straight.Replace(text)))
	}
	if blank := strings.TrimSpace(text) == ""; ok && (!blank || d.form != pipes) {
		d.last = n
	}
	return ok
}

func (d *draft) addDrawn(n int, text string) bool {
	switch {
	case text == "":
		return d.headAlone()
	case len(d.rows) > 0 && d.last != n-1 && !isRule(text), d.closed, !strings.Contains(text, "|") && !isRule(text):
		return false
	case isRule(text):
		if !d.sure && isCorner(text) {
			return false // it was the title of the box
		}
		d.rule(text)
		d.closed = strings.ContainsAny(text, "╘└╚┗")
		return d.sure
	case !d.sure && len(d.rows) >= mostHeads:
		return false
	case d.continues(text):
		return true
	}
	d.rows = append(d.rows, row{n: n, cells: splitPipes(text)})
	return true
}

// headAlone reports whether a head may wait for its rule over an empty line.
func (d *draft) headAlone() bool {
	return d.form == pipes && d.enclosed && d.heads == 0 && len(d.rows) > 0
}

// continues joins what a line break inside a row of Markdown has cut off.
func (d *draft) continues(text string) bool {
	cut := text == "|" || text[0] != '|' && strings.HasSuffix(text, "|")
	if d.form != pipes || !d.enclosed || len(d.rows) == 0 || !cut {
		return false
	}
	last := &d.rows[len(d.rows)-1]
	if text != "|" && len(last.cells) < mostColumns {
		last.cells = append(last.cells, splitPipes(text)...)
		last.cells = last.cells[:min(len(last.cells), mostColumns)]
	}
	return true
}

// rule ends the head, if it is the first below a row. A table without enclosing characters is one from then on.
func (d *draft) rule(text string) {
	if len(d.rows) == 0 {
		return
	}
	d.sure = true
	if d.heads == 0 {
		if first := d.rows[0].cells; len(d.rows) == 2 && len(first)+len(d.rows[1].cells) == len(splitPipes(text)) {
			d.rows = []row{{n: d.rows[0].n, cells: append(first, d.rows[1].cells...)}} // a line break has cut it
		}
		d.heads = len(d.rows)
		return
	}
	if len(d.rules) < mostRows {
		d.rules = append(d.rules, len(d.rows))
	}
}

// splitPipes splits a row; a bar that is escaped is none. An empty cell between two bars is "", one with a blank " ".
func splitPipes(text string) (cells []string) {
	text = strings.TrimPrefix(text, "|")
	if strings.HasSuffix(text, "|") && !strings.HasSuffix(text, `\|`) {
		text = text[:len(text)-1]
	}
	for start, i := 0, 0; len(cells) < mostColumns; i++ {
		if i < len(text) && (text[i] != '|' || i > 0 && text[i-1] == '\\') {
			continue
		}
		cells = append(cells, trimCell(text[start:min(i, len(text))]))
		start = i + 1
		if i >= len(text) {
			break
		}
	}
	return cells
}

func trimCell(text string) string {
	t := strings.TrimSpace(text)
	if t == "" && text != "" {
		return " "
	}
	return clip(t)
}

// trigger are words of which a head of separated values has one, and a statement.
var trigger = []string{
	"ttft", "tpot", "itl", "latency", "throughput", "tok/s", "tokens/s", "qps", "e2e", "吞吐", "时延", "延迟", "首token",
}

// separatorOf is what separates the cells of a head, 0 if the line is none.
func separatorOf(text string) byte {
	comma, tab := strings.Count(text, ","), strings.Count(text, "\t")
	if comma < 2 && tab < 1 || comma >= mostColumns || tab >= mostColumns {
		return 0
	}
	switch {
	case !hasTrigger(text):
		return 0
	case tab > 0:
		return '\t'
	}
	return ','
}

func hasTrigger(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(trigger, func(word string) bool { return strings.Contains(lower, word) })
}

// addSeparated reads a line of separated values, of as many cells as the head.
func (d *draft) addSeparated(n int, text string) bool {
	cells := splitSeparated(text, d.separator)
	switch {
	case len(d.rows) == 0:
		d.heads = 1
		if !isHead(cells) {
			return false
		}
	case len(cells) != len(d.rows[0].cells) || !hasNumber(cells):
		return false
	default:
		d.sure = true
	}
	d.rows = append(d.rows, row{n: n, cells: cells})
	return true
}

// longestHead is how long a head of separated values is at most.
const longestHead = 60

// isHead reports whether separated values can be a head: short names, one of them that of a metric.
func isHead(cells []string) bool {
	for _, c := range cells {
		if len(c) > longestHead || strings.Contains(c, ": ") || strings.HasSuffix(c, ".") {
			return false
		}
	}
	return slices.ContainsFunc(cells, func(c string) bool { return parse(c).metric != "" })
}

func hasNumber(cells []string) bool {
	for _, c := range cells {
		if strings.ContainsAny(c, "0123456789") {
			if _, ok := readCell(c); ok {
				return true
			}
		}
	}
	return false
}

func splitSeparated(text string, separator byte) (cells []string) {
	quoted, start := false, 0
	for i := 0; i <= len(text) && len(cells) < mostColumns; i++ {
		switch {
		case i == len(text), text[i] == separator && !quoted:
			cells = append(cells, clip(strings.Trim(strings.TrimSpace(text[start:i]), `"`)))
			start = i + 1
		case text[i] == '"':
			quoted = !quoted
		}
	}
	return cells
}
