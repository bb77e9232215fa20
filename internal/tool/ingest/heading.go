package ingest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A heading is a line that names what stands below it. Those of Markdown have the
// levels 1 to 6; a line in bold is below them all, and a plain one below that.
type heading struct {
	level  int
	text   string
	line   int
	repeat bool     // it only counts repeated runs
	tables int      // directly below it
	env    []string // lines on the environment below it
	used   bool     // a table has taken them
	late   []string // those of sections on the environment since
	system bool     // it is of a section on the environment
}

// The levels below those of Markdown.
const (
	boldLevel   = 7
	bulletLevel = 8 // bold in a list
	outerLevel  = 9 // of a label of labels
	plainLevel  = 10
	codeLevel   = 11 // of a label in a block of code
	sideLevel   = 12 // left or right, or the heads of a table's cells
)

var (
	atxHeading  = lazy.Regexp(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	htmlHeading = lexicon.Compile(`(?i)<(h[1-6]|summary)\b[^>]*>\s*(.*?)\s*</(?:h[1-6]|summary)>`)
	boldLine    = lazy.Regexp(`^(?:\*\*|__)(.+?)(?:\*\*|__)(.*)$`)
	htmlTag     = lazy.Regexp(`</?[a-zA-Z][^>]*>`)
	bullet      = lazy.Regexp(`^(?:[-*+•]|\d{1,2}[.)、])\s+`)
	banner      = lazy.Regexp(`^(={2,}|#{3,}|-{3,}|\*{3,})\s+(\S.*?)\s+[=#*-]{2,}$`)
	wikiHeading = lazy.Regexp(`^h([1-6])\.\s+(.*)$`)
	tab         = lazy.Regexp(`^(?:===|\?\?\?|!!!)\+?\s+(?:\w+\s+)?"([^"]+)"$`)
	callout     = lazy.Regexp(`^\s*\[![\w-]+\][+-]?`)
	link        = lexicon.Compile(`!?\[([^\]]*)\]\([^)]*\)`)
	picture     = lexicon.Compile(`!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>`)
	escape      = lexicon.Compile("\\\\([\\\\`*_{}\\[\\]()#+.!|<>~-])")
	parentheses = lazy.Regexp(`^\s*[(（\[【].*[)）\]】]\s*$`)
)

// unlisted is a line without the blanks at its ends, and the marks of lists.
func unlisted(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || text[0] >= 'A' && text[0] <= 'Z' || text[0] == '[' || text[0] == '(' { // most lines of a log
		return text
	}
	for range mostMarks {
		mark := bullet.FindString(text)
		if mark == "" {
			break
		}
		text = strings.TrimSpace(text[len(mark):])
	}
	return text
}

// mostMarks is how many marks of lists may begin a line.
const mostMarks = 3

// markedHeading is a heading that its own line marks as one; of a generic summary
// there is none.
func markedHeading(text string) (h heading, ok bool) {
	if m := atxHeading.FindStringSubmatch(text); m != nil {
		return heading{level: len(m[1]), text: m[2]}, strings.TrimSpace(m[2]) != ""
	}
	if !strings.Contains(text, "</") {
		return ownLine(text)
	}
	if m := htmlHeading.Find(text); m != nil {
		level := boldLevel
		if m[1][0] == 'h' || m[1][0] == 'H' {
			level = int(m[1][1] - '0')
		}
		h = heading{level: level, text: htmlTag.ReplaceAllString(m[2], "")}
		return h, level < boldLevel || !isGeneric(h.text) || isSystem(h.text)
	}
	return ownLine(text)
}

// ownLine is a heading that has its line to itself: a banner, or bold words.
func ownLine(text string) (h heading, ok bool) {
	if h, ok := bannerHeading(strings.TrimSpace(text)); ok {
		return h, true
	}
	level := boldLevel
	if listed := unlisted(text); listed != strings.TrimSpace(text) {
		level, text = bulletLevel, listed
	}
	text = strings.TrimSpace(text)
	m := boldLine.FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], "**") {
		return heading{}, false
	}
	if rest := strings.Trim(m[2], ":： \t"); rest != "" && !parentheses.MatchString(rest) && cleanHeading(rest) != "" {
		return heading{}, false
	}
	h = heading{level: level, text: m[1] + m[2]}
	return h, !isGeneric(h.text) || isSystem(h.text)
}

// bannerHeading is a heading as scripts print it, and as other markup than Markdown
// has it.
func bannerHeading(text string) (h heading, ok bool) {
	if text == "" || !strings.ContainsRune("=#*-h?!", rune(text[0])) || len(text) > longestBanner {
		return heading{}, false
	}
	if m := banner.FindStringSubmatch(text); m != nil && named(m[2]) {
		level := boldLevel
		if m[1][0] == '-' {
			level = plainLevel
		}
		return heading{level: level, text: m[2]}, true
	}
	if m := wikiHeading.FindStringSubmatch(text); m != nil {
		return heading{level: int(m[1][0] - '0'), text: m[2]}, true
	}
	if m := tab.FindStringSubmatch(text); m != nil {
		return heading{level: boldLevel, text: m[1]}, true
	}
	return heading{}, false
}

// longestBanner is more than a line of a terminal.
const longestBanner = 200

// named reports whether a text has a letter or a digit: something to call by.
func named(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// underlined is the level of a line that is underlined by the next one, else 0.
func underlined(text, next string) int {
	under := strings.TrimRight(next, " \t")
	if strings.TrimSpace(text) == "" || len(under) < 2 || strings.HasPrefix(text, "    ") {
		return 0
	}
	switch {
	case strings.Trim(under, "=") == "":
		return 1
	case strings.Trim(under, "-") == "":
		return 2
	}
	return 0
}

// Labels are short.
const (
	longestLabel   = 200
	longestCaption = 40 // of one that no colon marks
)

// generic are labels that say of any table what it is.
var generic = []string{
	"command", "commands", "cmd", "run", "result", "results", "output", "log", "logs", "benchmark result", "benchmark results",
	"benchmark", "benchmarks", "benchmarking", "numbers", "performance numbers", "data", "performance", "performance results", "performance test", "test", "tests", "test result", "test results", "test command", "benchmark command",
	"vllm benchmark result", "benchmarking summary", "percentile results", "performance parameters", "common metric", "performance results summary", "sglang benchmark result", "server", "server command", "serve command", "launch command", "client", "client command", "serving benchmark result", "benchmark output", "test plan", "setup", "environment", "note", "notes",
	"click", "click to expand", "click to show", "expand", "show", "details", "detail", "full log", "full output", "raw output",
	"展开", "点击展开", "详情", "详细结果", "完整日志",
	"命令", "运行", "运行命令", "测试命令", "启动命令", "结果", "测试结果", "日志", "输出",
}

func isGeneric(label string) bool {
	return slices.Contains(generic, strings.ToLower(strings.Trim(emphasis.Replace(label), ":：.… ")))
}

// onSystem is the heading of a section on the environment: words for it alone, or a script that prints it.
var onSystem = lexicon.Compile(`(?i)^(?:(?:(?:your|my|our|the|current|tests?|testing|system|software|hardware|runtime|server|deployment|benchmark|and|&|info|information|details|versions?|variables?|setup|config|configuration|platform|env|environments?)\s*)+|(?:测试|当前|运行|系统|软|硬|件|软件|硬件|实验|部署|机器|服务器|环境|配置|版本|信息|说明|变量|与|和|及)+)$|collect[_-]env|check_env`)

// systemWord is one of which such a heading has one.
var systemWord = lexicon.Compile(`(?i)env|hardware|software|setup|config|versions?|system|环境|配置|版本|硬件|软件|硬|系统`)

func isSystem(title string) bool {
	title = emphasis.Replace(title)
	if i := strings.IndexAny(title, "(（:："); i > 0 {
		title = title[:i]
	}
	title = strings.TrimLeftFunc(title, func(r rune) bool { return !unicode.IsLetter(r) })
	title = strings.TrimSpace(numeral.ReplaceAllString(title, ""))
	return len(title) <= longestLabel && systemWord.Find(title) != nil && onSystem.Find(title) != nil
}

// numeral is what counts sections in Chinese.
var numeral = lazy.Regexp(`^[一二三四五六七八九十]+[、.．]\s*`)

// prefixed is all that a log has of a blank line.
var prefixed = lazy.Regexp(`^(?:\[[^\]]*\]|\([^)]*\))\s*[:：]?$`)

// plainLabel is a line that names the block below it if one follows: it ends with
// a colon, or else is short and no sentence.
func plainLabel(text string) (label string, colon, ok bool) {
	text = strings.TrimSpace(strings.TrimLeft(unlisted(text), "#"))
	colon = strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
	n := utf8.RuneCountInString(text)
	if !named(text) || strings.HasPrefix(text, "^") || strings.HasPrefix(text, "↑") || prefixed.MatchString(text) {
		return "", false, false // what stands ahead of each line of a log, or names the table above
	}
	if n > longestLabel || !colon && (n > longestCaption || strings.ContainsAny(text, "`$|<>=") || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "。")) {
		return "", false, false
	}
	return text, colon, true
}

// emphasis are the marks of Markdown that a name does without.
var emphasis = strings.NewReplacer("**", "", "__", "", "`", "")

// separators stand at the ends of a heading and belong to nothing.
const separators = " \t:：,，;；|-–—→=>"

// emptyPair are parentheses that have nothing left in them.
var emptyPair = lazy.Regexp(`[(（\[【]\s*[)）\]】]`)

// onlyClaims reports whether a heading has no name beside what it states.
func onlyClaims(text string) bool {
	text = emphasis.Replace(text)
	for _, c := range slices.Backward(claimsIn(text)) {
		if c.end <= len(text) {
			text = text[:c.start] + text[c.end:]
		}
	}
	return !named(text)
}

// cleanHeading is the name that a heading gives: without the author's claims,
// emphasis and the colon at its end.
func cleanHeading(text string) string {
	text = emphasis.Replace(callout.ReplaceAllString(picture.ReplaceAllString(text, ""), ""))
	if strings.Contains(text, "<") {
		text = htmlTag.ReplaceAllString(text, "")
	}
	if link.In(text, "") {
		text = link.ReplaceAllString(text, "$1")
	}
	text = secret.Mask(text)
	name, last := text, len(text)
	for _, c := range slices.Backward(claimsIn(text)) {
		start, end := c.start, c.end
		if open, closed, ok := enclosing(text, start, end); ok {
			start, end = open, closed
		}
		if end = min(end, last); start < end {
			name, last = name[:start]+name[end:], start
		}
	}
	name = emptyPair.ReplaceAllString(name, "")
	name = strings.TrimRight(strings.TrimLeft(name, "# \t"), separators)
	if name = strings.Join(strings.Fields(name), " "); name == "" {
		name = strings.TrimRightFunc(strings.TrimSpace(text), func(r rune) bool { return unicode.IsSpace(r) || r == ':' || r == '：' })
	}
	return name
}

// enclosing are the parentheses around a part of a text.
func enclosing(text string, start, end int) (open, closed int, ok bool) {
	open = strings.LastIndexAny(text[:start], "(（[【")
	i := strings.IndexAny(text[end:], ")）]】")
	if open < 0 || i < 0 || strings.ContainsAny(text[open+1:start], ")）]】") {
		return 0, 0, false
	}
	_, width := utf8.DecodeRuneInString(text[end+i:])
	return open, end + i + width, true
}

// An outline is where in a document a line stands: the headings above it,
// outermost first.
type outline struct {
	root  heading // the document
	stack []*heading
	first *heading // of all
	all   int
	ones  int // those of level 1
}

// place puts a heading under those of a higher level.
func (o *outline) place(h heading) {
	h.text, h.repeat, h.system = cleanHeading(h.text), isRepeatLabel(h.text), h.level < plainLevel && isSystem(h.text)
	o.leave(h.level)
	// A plain label behind a table that stood directly below a bold one is its
	// brother.
	if h.level == plainLevel && (o.top().level == boldLevel || o.top().level == bulletLevel) && o.top().tables > 0 {
		o.stack = o.stack[:len(o.stack)-1]
	}
	o.stack = append(o.stack, &h)
	if o.all++; o.all == 1 {
		o.first = &h
	}
	if h.level == 1 {
		o.ones++
	}
}

// leave leaves the headings of a level and below.
func (o *outline) leave(level int) {
	for len(o.stack) > 0 && o.top().level >= level {
		o.stack = o.stack[:len(o.stack)-1]
	}
}

// top is the heading right above, or the document.
func (o *outline) top() *heading {
	if len(o.stack) == 0 {
		return &o.root
	}
	return o.stack[len(o.stack)-1]
}

// marked is the heading right above that Markdown has for one, or the document.
func (o *outline) marked() *heading {
	for _, h := range slices.Backward(o.stack) {
		if h.level < boldLevel {
			return h
		}
	}
	return &o.root
}

// system is the place in the stack of the section on the environment that a line stands in, or -1.
func (o *outline) system() int {
	return slices.IndexFunc(o.stack, func(h *heading) bool { return h.system })
}

// endDetails leaves a section on the environment that was folded.
func (o *outline) endDetails() {
	if top := o.top(); top.system && top.level == boldLevel {
		o.stack = o.stack[:len(o.stack)-1]
	}
}

// note keeps a line on the environment of the tables below the heading, and one of a section on the environment for
// those beside the section. One that comes behind a table begins anew.
func (o *outline) note(text string) {
	h, i := o.top(), o.system()
	if i == 0 {
		h = &o.root
	} else if i > 0 {
		h = o.stack[i-1]
	}
	if h.used {
		h.env, h.late, h.used = nil, nil, false
	}
	if len(h.env) < mostAround {
		h.env = append(h.env, text)
		if i >= 0 {
			h.late = append(h.late, text)
		}
	}
}

// env are the lines on the environment of a table that stands here, by headings, outermost first.
func (o *outline) env() (all [][]string) {
	for _, h := range append([]*heading{&o.root}, o.stack...) {
		all = append(all, slices.Clip(h.env))
		h.used, h.late = true, nil
	}
	return all
}

// lateEnv adds the lines of sections that stand behind the last table of their heading.
func (o *outline) lateEnv(t *printed) {
	for i, h := range append([]*heading{&o.root}, t.stack...) {
		if i < len(t.env) {
			t.env[i] = append(t.env[i], h.late...)
		}
	}
}

// title is the heading of the whole document: the first, and the only one of the
// highest level, with others below it.
func (o *outline) title() *heading {
	if o.all < 2 || o.ones != 1 || o.first.level != 1 {
		return nil
	}
	return o.first
}

// path are the names of headings, without that of the whole document.
func (o *outline) path(stack []*heading) (path []string) {
	title := o.title()
	for _, h := range stack {
		if h != title && !h.repeat && (!h.system || h.level < boldLevel) {
			path = append(path, h.text)
		}
	}
	return path
}
