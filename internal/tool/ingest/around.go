package ingest

import (
	"errors"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// What is kept of the lines beside a table, at most.
const (
	mostAround   = 400      // lines
	longestKept  = 2000     // bytes of one
	longestSetup = 64 << 10 // bytes of a Namespace that was broken over several lines
)

var (
	image  = lexicon.Compile(`(?i)^(?:docker |container )?(?:image|镜像)\s*=\s*\S`)
	prompt = lazy.Regexp(`^(?:\([\w.-]+\)\s*)?(?:\S*[@:~/]\S*)?[$#%>❯]\s+`)
)

// tableContext are what was found ahead of a table that belongs to it alone.
type tableContext struct {
	run      []string          // lines
	settings map[string]string // of a Namespace
	traffic  tool.ReportedArgs // of the lines on the load
	at       int               // line of the Namespace
	broken   broken            // an incomplete Namespace
	command  strings.Builder   // an incomplete command line
	exports  []string          // lines that set variables for the next command
}

// take keeps what a line has to say of the run or of the environment, and reports
// whether it had anything to say.
func (r *textReader) take(l line) bool {
	text := unlisted(l.text)
	if command := prompt.ReplaceAllString(text, ""); strings.HasPrefix(command, exporting) {
		text = command
	}
	a := &r.around
	lower := lexicon.Lower(text)
	switch {
	case a.broken.Len() > 0:
		r.namespace(text)
	case strings.Contains(text, "Namespace("):
		a.at = l.n
		r.namespace(text[strings.LastIndex(text, "Namespace("):])
	case a.command.Len() > 0 || r.command.Finds(text, lower) && !strings.HasPrefix(text, "WARNING"):
		r.commandLine(text)
	case len(text) > longestKept:
		return false
	case strings.HasPrefix(text, "|"): // systemRow has read it
		return false
	case r.outline.system() < 0 && strings.HasPrefix(text, exporting):
		if len(a.exports) < mostAround {
			a.exports = append(a.exports, environment.Mask(text))
		}
		return false
	case r.describes(text, lower):
		bare := strings.TrimRight(text, ":：")
		r.outline.note(environment.Mask(bare))
		if r.outline.system() < 0 {
			r.window.add(bare, l.n, scoreFact)
		}
		return bare == text // else it is a label too
	default:
		return r.takeRun(text)
	}
	return true
}

// exporting begins a line that sets variables.
const exporting = "export "

// stated is NAME: VALUE in words of an author.
var stated = lazy.Regexp(`^[^:：|<>]{1,40}[:：]\s*[^\s/][^|<>]{0,160}$`)

// describes reports whether a line is on the environment. In a section on it any NAME: VALUE of the text is, and in
// other sections and in what programs print those that are known.
func (r *textReader) describes(text, lower string) bool {
	own := r.outline.system() >= 0
	return r.system.Line(text, own) || image.Finds(text, lower) || r.described.MatchString(text) ||
		own && r.fence == "" && stated.MatchString(text)
}

// systemRow reads a row on the environment: of the table of npu-smi, which has no figures of a run and is not read
// further, and in a section on the environment one of two cells.
func (r *textReader) systemRow(text string) string {
	row := strings.TrimSpace(text)
	switch {
	case r.table != nil || len(row) > longestKept:
	case r.system.Row(row):
		r.outline.note(secret.Mask(row))
		return ""
	case strings.HasPrefix(row, "|") && r.outline.system() >= 0:
		cells := strings.Split(strings.Trim(row, "|"), "|")
		pair := strings.TrimRight(strings.TrimSpace(cells[0]), ":：") + ": " + strings.TrimSpace(cells[len(cells)-1])
		if len(cells) == 2 && r.system.Line(pair, true) {
			r.outline.note(environment.Mask(pair))
		}
	}
	return text
}

// takeRun keeps a line that a tool prints ahead of a run, without what a log put
// ahead of it.
func (r *textReader) takeRun(text string) bool {
	a := &r.around
	for _, t := range r.tools {
		if t.Log == nil {
			continue
		}
		for _, begins := range t.Log.Lines {
			i := strings.Index(text, begins)
			if i < 0 || len(a.run) >= mostAround {
				continue
			}
			a.run = append(a.run, secret.Mask(text[i:]))
			if a.traffic == nil {
				a.traffic = tool.ReportedArgs{}
			}
			if t.Log.Load != nil {
				t.Log.Load(text[i:], a.traffic)
			}
			return true
		}
	}
	return false
}

// A broken Namespace is one that a terminal broke over several lines. It is parsed when its brackets are closed and
// when it has doubled, so that its length in lines costs nothing.
type broken struct {
	strings.Builder
	depth   int  // brackets open
	quote   byte // of the string that is open, or 0
	escaped bool
	parsed  int // bytes, the last time
}

// write adds a line, and reports whether it is worth parsing what there is.
func (b *broken) write(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case b.escaped:
			b.escaped = false
		case b.quote != 0 && c == '\\':
			b.escaped = true
		case b.quote != 0:
			if c == b.quote {
				b.quote = 0
			}
		case c == '\'' || c == '"':
			b.quote = c
		case strings.IndexByte("([{", c) >= 0:
			b.depth++
		case strings.IndexByte(")]}", c) >= 0:
			b.depth--
		}
	}
	b.WriteString(text)
	return b.complete() || b.Len() >= 2*b.parsed
}

// complete reports whether no line is missing, or none may follow.
func (b *broken) complete() bool { return b.depth <= 0 || b.Len() >= longestSetup }

// namespace reads a printout of arguments, or the next line of one that a terminal
// broke.
func (r *textReader) namespace(text string) {
	a := &r.around
	if !a.broken.write(text) {
		return
	}
	a.broken.parsed = a.broken.Len()
	settings, _, err := python.ReadNamespace(a.broken.String())
	if errors.Is(err, python.ErrCut) && !a.broken.complete() {
		return
	}
	if err != nil {
		r.problem(a.at, "read the Namespace: %v", err)
	}
	if len(settings) > 0 {
		a.settings = settings
	}
	a.broken = broken{}
}

// commandLine keeps the command line of a server or of a run, with the lines that
// continue it.
func (r *textReader) commandLine(text string) {
	a := &r.around
	if a.command.Len() > 0 {
		a.command.WriteByte(' ')
	}
	text, more := strings.CutSuffix(text, `\`)
	a.command.WriteString(strings.TrimSpace(text))
	if more && a.command.Len() < longestKept {
		return
	}
	if starts.MatchString(a.command.String()) {
		a.run = append(a.run, a.exports[:min(len(a.exports), max(0, mostAround-len(a.run)))]...)
	}
	a.exports = nil
	if len(a.run) < mostAround && a.command.Len() <= 2*longestKept {
		a.run = append(a.run, secret.Mask(prompt.ReplaceAllString(a.command.String(), "")))
	}
	a.command.Reset()
}

// clientCommand is a command line of a load generator.
var clientCommand = lexicon.Compile(`\bbench serve\b|benchmark_serving|bench_serving`)

// commandSettings are the arguments of the last command line of a load generator, by their names in its Namespace.
// A value that only its shell knows is left out.
func commandSettings(lines []string) map[string]string {
	var words []string
	for _, text := range lines {
		if clientCommand.Find(text) == nil {
			continue
		}
		words = strings.Fields(text) // a shell's words, or as near as they come
		if all, err := shell.Split(text); err == nil {
			words = all
		}
	}
	settings := map[string]string{}
	for i, word := range words {
		name, value, ok := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !strings.HasPrefix(word, "--") || name == "" {
			continue
		}
		if !ok && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			value = words[i+1]
		}
		if value != "" && !strings.ContainsAny(value, "$<>{}") {
			settings[strings.ReplaceAll(name, "-", "_")] = value
		}
	}
	return settings
}

var starts = lazy.Regexp(`\bsglang\.launch_server\b|\bsglang serve\b|\bvllm serve\b|\bvllm\.entrypoints\.openai\.api_server\b`)

// serverOf is the environment of the server, by lines on the environment of a table, outermost first, and by the
// command line that starts it. nil: they state none.
func serverOf(env [][]string, run []string) *environment.Environment {
	var l environment.Listing
	command := ""
	for _, line := range run { // what stands nearest counts
		switch {
		case command == "" && starts.MatchString(line):
			command = line
		case strings.HasPrefix(line, exporting):
			l.Line(line, true)
		}
	}
	for _, lines := range slices.Backward(env) {
		for _, line := range lines {
			l.Line(line, true)
		}
	}
	return l.Environment(command)
}
