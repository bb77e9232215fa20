package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A score is how likely a line names the table below it.
type score int

// The scores, by the form of a line. From scoreMark on a line names its table by itself, and those that follow up to
// the next label or heading. Lower ones are asked where two tables of one load would have the same name.
const (
	scoreCommand  score = 10 // the part of a command line that those of the other tables lack
	scoreFact     score = 20 // a version or another fact of the environment
	scoreSentence score = 25 // the last sentence of a paragraph
	scoreWords    score = 40 // a short line without a mark
	scoreCheckout score = 45 // the revision that a command checks out
	scorePair     score = 15 // more, for words such as before and after
	scoreNear     score = 25 // more, for the last one above the table
	scoreMark     score = 100
)

// A candidate is a line that may name the table below it.
type candidate struct {
	text  string
	line  int
	score score
}

// A window is what stands between a table and the table or the heading before it.
type window struct {
	label      candidate   // of scoreMark, "" if there is none
	near       candidate   // the same in a block of code: of the next table alone
	passed     candidate   // a label that text stands below
	candidates []candidate // lower ones
	commands   []string
	repeat     bool // a label counts the table among repeated runs
}

// What is kept of a window, at most.
const (
	mostCandidates = 8
	mostCommands   = 8
	longestName    = 80  // characters
	longestWritten = 400 // bytes of a line that is read as an author's words
)

func (w *window) add(text string, line int, s score) {
	if text = shortened(cleanHeading(text)); !named(text) || isGeneric(text) {
		return
	}
	if pairWord.MatchString(text) {
		s += scorePair
	}
	if len(w.candidates) == mostCandidates {
		w.candidates = w.candidates[1:]
	}
	w.candidates = append(w.candidates, candidate{text, line, s})
}

// command keeps a command line, and the revision that it checks out.
func (w *window) command(text string, line int) {
	text = prompt.ReplaceAllString(strings.TrimSpace(text), "")
	if m := checkout.FindStringSubmatch(text); m != nil {
		w.add(m[1], line, scoreCheckout)
		return
	}
	if len(w.commands) < mostCommands && len(text) <= longestKept {
		w.commands = append(w.commands, secret.Mask(text))
	}
}

// shortened is a name that fits a column: long ones end behind a word.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= longestName {
		return text
	}
	text = string([]rune(text)[:longestName])
	if i := strings.LastIndexByte(text, ' '); i > longestName/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, separators) + "…"
}

var (
	checkout = lazy.Regexp(`\bgit\s+(?:checkout|switch)(?:\s+-\S+)*\s+([\w./-]+)`)
	// otherCommand are the beginnings of commands other than those of tools.
	otherCommand = lazy.Regexp(`^(?:export|set|env|source|cd|pip3?|uv|git|docker|podman|kubectl|nerdctl|bash|sh|curl|wget|sudo|nohup|python3?|taskset|numactl|ray|mpirun|torchrun|srun|\./\S+|[A-Z][A-Z0-9_]*=\S+\s+\S)\b`)
	// typed is a line that was typed into a terminal.
	typed = lazy.Regexp(`^(?:\([\w.-]+\)\s*)?(?:\S*[@:~/]\S*[$#%>❯]|[$❯])\s+\S`)
	// bracketed is a line of words in brackets, and nothing else.
	bracketed = lazy.Regexp(`^[\[【(（<«]+\s*([^\[\]【】()（）<>«»]*\pL[^\[\]【】()（）<>«»]*?)\s*[\]】)）>»]+\s*[:：]?$`)
	// pairWord are words that name one side of a comparison.
	pairWord = lazy.Regexp(`(?i)\b(?:before|after|baseline|base|main|master|origin(?:al)?|upstream|previous|new|old|this (?:pr|branch|commit|change|patch)|(?:pre|post)-?\w+|pr|patch(?:ed)?|with(?:out)?|w/o?|enabled?|disabled?|on|off|default|optimi[sz]ed)\b|优化|基线|基准|原始|改[前后]|修改|开启|关闭|前[:：]?$|后[:：]?$`)
	// repeatLabel is a label that counts repeated runs and says nothing else.
	repeatLabel = lazy.Regexp(`(?i)^(?:(?:run|round|repeat|repetition|rep|trial|iteration|iter|attempt|try)\s*[-_#:=.]?\s*(?:no\.?\s*)?(?:\d{1,3}|one|two|three|four|five)(?:\s*(?:/|of)\s*\d{1,3})?|(?:\d{1,3}(?:st|nd|rd|th)|first|second|third|fourth|fifth|another|one more)\s+(?:run|round|time|try|trial|attempt)|(?:once )?again|re-?run|#\d{1,3}|第\s*[一二三四五六七八九十\d]+\s*(?:次|轮|遍|回)(?:运行|测试|压测|结果|测量)?|(?:运行|重复)\s*\d{1,3}|再(?:次|跑|测)\S{0,4}|首次\S{0,4}|[初末]次)$`)
	// noise are lines that programs print, and none that an author has written.
	noise = lazy.Regexp(`%\|| it/s|s/it\b|█|://|Namespace\(|\d\d:\d\d:\d\d|^(?:INFO|WARNING|WARN|DEBUG|ERROR|Traceback)\b|^[(\[{+>^↑]|^(?:tip|note): |\bWarning\b|\.py\b`)
)

func isRepeatLabel(text string) bool {
	return len(text) <= longestCell && repeatLabel.MatchString(strings.Trim(cleanHeading(unlisted(text)), " :：.()（）"))
}

// isWords reports whether a line reads like words of an author rather than of a program.
func isWords(text string) bool {
	if len(text) > longestWritten || noise.MatchString(text) {
		return false
	}
	letters, all := 0, 0
	for _, c := range text {
		all++
		if unicode.IsLetter(c) || c == ' ' {
			letters++
		}
	}
	return letters*2 >= all
}

func sentence(text string) string {
	text = strings.TrimSpace(text)
	body := strings.TrimRight(text, ".。!！:：")
	for _, stop := range []string{". ", "。", "! ", "！", "; ", "；"} {
		if i := strings.LastIndex(body, stop); i >= 0 {
			text = text[i+len(stop):]
			body = body[i+len(stop):]
		}
	}
	return strings.TrimSpace(text)
}

// labelLine reads a line of an author's words, outside of blocks of code. alone: no paragraph goes on in it.
func (r *textReader) labelLine(l line, alone bool) {
	text := l.text
	if strings.Contains(text, "<") {
		text = htmlTag.ReplaceAllString(text, " ")
	}
	if text = strings.TrimSpace(picture.ReplaceAllString(text, "")); text == "" {
		return // only tags or a picture: it leaves what stands above it
	}
	switch {
	case isRepeatLabel(text):
		r.window.repeat = true
		return
	case typed.MatchString(text):
		r.window.command(text, l.n)
		return
	case bracketed.MatchString(text):
		r.window.add(bracketed.FindStringSubmatch(text)[1], l.n, scoreWords)
		return
	}
	switch label, colon, ok := plainLabel(text); {
	case ok && isGeneric(label):
	case ok && (colon && !noise.MatchString(label) || alone):
		clean, nested := cleanHeading(label), r.outerLabel(l, label)
		if r.window.label = (candidate{}); colon && !noise.MatchString(clean) || isWords(clean) || nested {
			r.window.label = candidate{label, l.n, scoreMark}
		}
		if r.listed = -1; unlisted(l.text) != strings.TrimSpace(l.text) {
			r.listed = indentOf(l.text)
		}
		if r.colon = colon; colon {
			r.last = nil
		} else {
			r.window.add(label, l.n, scoreWords)
		}
	default:
		if r.colon && r.window.label.text != "" {
			r.window.passed = r.window.label
		}
		r.window.label = candidate{}
		if isWords(text) {
			r.window.add(sentence(text), l.n, scoreSentence)
		}
	}
}

// outerLabel makes the label that stands right above another one a heading: `H20:` above `TP4:`. It reports whether
// it did.
func (r *textReader) outerLabel(l line, label string) bool {
	outer, adjacent := r.window.label, r.window.label.line == r.above
	if outer.text == "" && slices.ContainsFunc(r.outline.stack, func(h *heading) bool { return h.level == outerLevel }) {
		outer, adjacent = r.window.passed, true // as the ones before
	}
	inner := strings.TrimRight(label, ":：")
	name := strings.TrimRight(outer.text, ":：")
	short := utf8.RuneCountInString(name) <= longestCaption && len(strings.Fields(name)) <= mostWords
	leads := r.colon || inner == label && r.listed < 0 // a line without a colon leads to a list
	below := inner != label && r.listed < 0 || indentOf(l.text) > r.listed && unlisted(l.text) != strings.TrimSpace(l.text)
	if outer.text == "" || !adjacent || !short || isGeneric(name) || isSystem(name) || strings.ContainsAny(name, ":：") || !leads || !below {
		return false
	}
	r.outline.place(heading{level: outerLevel, text: outer.text, line: outer.line})
	return true
}

// mostWords is how many words the label of labels has at most: more are a sentence that leads to the next.
const mostWords = 4

// codeLabel reads a line in a block of code that is no row, no banner and no command of a tool.
func (r *textReader) codeLabel(l line) {
	text := strings.TrimSpace(l.text)
	comment, isComment := strings.CutPrefix(text, "# ")
	switch {
	case isRepeatLabel(comment):
		r.window.repeat = true
		return
	case !isComment && (prompt.MatchString(text) || otherCommand.MatchString(text)):
		r.window.command(text, l.n)
		return
	case bracketed.MatchString(text):
		r.window.add(bracketed.FindStringSubmatch(text)[1], l.n, scoreWords)
		return
	}
	label, colon, ok := plainLabel(comment)
	switch {
	case ok && isGeneric(label):
	case ok && (isComment || colon) && !noise.MatchString(label):
		r.window.near = candidate{label, l.n, scoreMark}
	case isWords(comment):
		r.window.add(comment, l.n, scoreWords)
	}
}

// placeLabels puts the labels of the window below the headings of the table that begins.
func (r *textReader) placeLabels() {
	w := &r.window
	if w.label.text != "" && (r.colon || r.fenced) {
		r.outline.place(heading{level: plainLevel, text: shortened(w.label.text), line: w.label.line})
		w.add(w.label.text, w.label.line, scoreMark)
	}
	r.outline.leave(codeLevel)
	if w.near.text != "" {
		r.outline.place(heading{level: codeLevel, text: w.near.text, line: w.near.line})
	}
	row, column := r.cells.heads()
	for i, text := range []string{row, column, r.side} {
		if text != "" {
			r.outline.place(heading{level: sideLevel + i, text: text})
		}
	}
}

// settle gives all tables their names: the headings and marked labels above them, and where these do not tell tables
// of one load apart, the best of the other candidates that do.
func (r *textReader) settle() {
	for _, t := range r.closed {
		r.outline.lateEnv(t)
		t.path, t.repeat = r.outline.path(t.stack), t.window.repeat || counted(t.stack)
	}
	named := map[string][][]*printed{} // by path and limits: tables of one load each
	var all [][]*printed
	for _, t := range r.closed {
		key := strings.Join(t.path, "\n") + "\n\n" + t.load.setup
		i := slices.IndexFunc(named[key], func(alike []*printed) bool { return t.load.like(alike[0].load) })
		if i < 0 {
			i, named[key] = len(named[key]), append(named[key], nil)
		}
		named[key][i] = append(named[key][i], t)
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		all = append(all, named[key]...)
	}
	for _, alike := range all {
		if len(alike) > 1 {
			r.tellApart(alike)
		}
	}
}

// tellApart names tables that have one path: by candidates of which at least two differ.
func (r *textReader) tellApart(alike []*printed) {
	names := bestNames(alike)
	if slices.ContainsFunc(alike, func(t *printed) bool { return !t.repeat }) && names == nil {
		names = commandNames(alike)
	}
	if names == nil {
		r.repeated(alike)
		return
	}
	for i, t := range alike {
		if names[i].text == "" {
			continue
		}
		t.path = append(t.marked(), names[i].text)
		t.why = names[i]
	}
}

// repeated says that tables are taken as repeated runs because nothing tells them apart.
func (r *textReader) repeated(alike []*printed) {
	var places, seen []string
	for _, t := range alike {
		if t.repeat {
			continue
		}
		if rows := fmt.Sprint(t.rows, t.grid); !slices.Contains(seen, rows) {
			places, seen = append(places, strconv.Itoa(t.at)), append(seen, rows)
		}
		if len(seen) > mostPlaces {
			break
		}
	}
	if len(places) < 2 {
		return // one table that stands there again
	}
	n := len(places) - 1
	if n == mostPlaces {
		places[n] = "others"
	}
	between := "nothing stands above them that names them"
	if all := alike[1].window.candidates; len(all) > 0 {
		between = fmt.Sprintf("%q stands above each", all[len(all)-1].text)
	} else if len(alike[1].window.commands)+len(alike[1].around.run) > 0 {
		between = "the same command stands above them"
	}
	r.choice(alike[1].at, "the tables of lines %s and %s are taken as repeated runs of one variant: %s", strings.Join(places[:n], ", "), places[n], between)
}

// mostPlaces is how many lines are listed.
const mostPlaces = 6

// bestNames are the best candidates of tables, leaving out what stands above each of them; nil if they do not tell
// the tables apart. A table without one is of the variant of the table before it.
func bestNames(alike []*printed) []candidate {
	in := map[string]int{}
	for _, t := range alike {
		seen := map[string]bool{}
		for _, c := range t.window.candidates {
			if !seen[c.text] {
				in[c.text]++
			}
			seen[c.text] = true
		}
	}
	names, distinct := make([]candidate, len(alike)), map[string]bool{}
	for i, t := range alike {
		for j, c := range t.window.candidates {
			if j == len(t.window.candidates)-1 {
				c.score += scoreNear
			}
			if in[c.text] < len(alike) && c.score >= names[i].score && (!t.repeat || pairWord.MatchString(c.text)) {
				names[i] = c
			}
		}
		if names[i].text == "" && i > 0 {
			names[i] = names[i-1]
		}
		distinct[names[i].text] = true
	}
	if len(distinct) < 2 {
		return nil
	}
	return names
}

// commandNames name tables by the parts of the command lines above them that are not those of all; nil if there
// are none.
func commandNames(alike []*printed) []candidate {
	all := make([][]string, len(alike))
	in := map[string]int{}
	for i, t := range alike {
		all[i] = commandParts(t)
		for _, p := range all[i] {
			in[p]++
		}
	}
	names, distinct := make([]candidate, len(alike)), map[string]bool{}
	var some string
	for i := range alike {
		parts := slices.DeleteFunc(slices.Clone(all[i]), func(p string) bool { return in[p] == len(alike) })
		if len(all[i]) == 0 && i > 0 {
			names[i] = names[i-1]
			continue
		}
		names[i] = candidate{text: shortened(strings.Join(parts, " ")), score: scoreCommand}
		some = cmp.Or(some, names[i].text)
		distinct[names[i].text] = true
	}
	if len(distinct) < 2 {
		return nil
	}
	for i := range names {
		if names[i].text == "" {
			names[i].text = "without " + some
		}
	}
	return names
}

// unlike are parts of command lines that differ between runs of one server with one load.
var unlike = lazy.Regexp(`^--?(?:seed|result-filename|result-dir|output-file|save-result|save-detailed|append-result|disable-tqdm|metadata|label)\b`)

// commandParts are the flags of a table's command lines, each with its value, and the words before them.
func commandParts(t *printed) (parts []string) {
	for _, c := range append(slices.Clone(t.window.commands), t.around.run...) {
		flag := ""
		for _, word := range strings.Fields(c) {
			switch {
			case strings.HasPrefix(word, "-"):
				parts = appendPart(parts, flag)
				flag = word
			case flag != "":
				flag += " " + word
			default:
				parts = appendPart(parts, word)
			}
		}
		parts = appendPart(parts, flag)
	}
	return parts
}

func appendPart(parts []string, p string) []string {
	if p == "" || unlike.MatchString(p) || slices.Contains(parts, p) {
		return parts
	}
	return append(parts, p)
}

// counted reports whether one of the headings counts repeated runs.
func counted(stack []*heading) bool {
	return slices.ContainsFunc(stack, func(h *heading) bool { return h.repeat })
}

// naming says how a table came to its name.
func (t *printed) naming() string {
	switch {
	case t.why.line > 0:
		return fmt.Sprintf("line %d", t.why.line)
	case t.why.text != "":
		return "its command line"
	}
	var lines []string
	for _, h := range t.stack {
		if h.line > 0 && slices.Contains(t.path, h.text) {
			lines = append(lines, fmt.Sprint(h.line))
		}
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return "line " + lines[0]
	}
	return "lines " + strings.Join(lines, ", ")
}

// marked are the parts of a table's path that headings give, without those of labels.
func (t *printed) marked() (path []string) {
	for _, h := range t.stack {
		if h.level < plainLevel && slices.Contains(t.path, h.text) {
			path = append(path, h.text)
		}
	}
	return path
}

// A printedLoad is what the rows of a table say of the load, enough to see that two tables are no repeated runs.
type printedLoad struct {
	setup  string  // rows of words and limits
	sent   float64 // requests
	input  float64 // tokens of a request
	output float64
}

// outputRatio is by how much the tokens of an answer may differ between repeated runs.
const outputRatio = 1.5

func (l printedLoad) like(m printedLoad) bool {
	return l.setup == m.setup && ratio(l.sent, m.sent) < 1.1 && ratio(l.input, m.input) < 1.1 && ratio(l.output, m.output) < outputRatio
}

// ratio is how many times the larger is the smaller; 1 of two that are not there.
func ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		if a == b {
			return 1
		}
		return outputRatio
	}
	return max(a, b) / min(a, b)
}

func loadOf(rows []result.Match) (l printedLoad) {
	var ok, input, output float64
	for _, row := range rows {
		switch row.Label {
		case "Successful requests:":
			ok = number(row.Value)
		case "Failed requests:":
			l.sent += number(row.Value)
		case "Total input tokens:":
			input = number(row.Value)
		case "Total generated tokens:":
			output = number(row.Value)
		case "Maximum request concurrency:", "Max request concurrency:", "Traffic request rate:", "Request rate configured (RPS):", "Backend:":
			l.setup += row.Value + " "
		case "Input throughput (inputs/s):":
			l.setup += "texts "
		}
	}
	if l.sent += ok; ok > 0 {
		l.input, l.output = input/ok, output/ok
	}
	return l
}

func number(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}
