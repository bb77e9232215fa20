package ingest

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A Reader reads what some tools leave behind.
type Reader struct {
	tools   []tool.Tool
	formats []result.Format
	tables  *result.Reader

	command   lexicon.Expression // of a command line of a tool or of its server
	described *regexp.Regexp     // a line on the environment
	version   *regexp.Regexp     // a line of a listing or of a server that tells its version
}

// NewReader makes one. Of tools that a table or a file could be of, it is the first's.
func NewReader(tools ...tool.Tool) *Reader {
	r := &Reader{tools: tools, formats: []result.Format{exports()}, tables: result.NewReader(tool.Tables(tools)...)}
	var names, commands []string
	for _, t := range tools {
		if t.Result.Is != nil {
			r.formats = append(r.formats, t.Result)
		}
		if t.Log != nil {
			names, commands = append(names, regexp.QuoteMeta(t.Name)), append(commands, t.Log.Commands)
		}
	}
	name := strings.Join(names, "|")
	r.command = lexicon.Compile(strings.Join(commands, "|"))
	r.described = regexp.MustCompile(`(?i)^(?:GPU|NPU|CUDA|CANN|Driver Version|Hardware|Python|OS|(?:` + name + `)(?: version)?|Model|硬件|模型|版本|环境)\s*[:：]\s*\S`)
	r.version = regexp.MustCompile(`^(?i:(` + name + `)(?:==| API server version |\s+|\s*(?:version)?\s*[:：]\s*))v?(\d\S*)`)
	return r
}

func (r *Reader) tool(name string) tool.Tool {
	i := slices.IndexFunc(r.tools, func(t tool.Tool) bool { return t.Name == name })
	return r.tools[i] // a table is one of theirs
}

// Read reads all results in a source: objects or arrays of JSON, or else tables in
// text.
func (r *Reader) Read(s result.Source) (found []result.Found, problems []result.Problem) {
	if isJSON(s) {
		found, problems = result.Read(s, r.formats...)
	} else {
		found, problems = r.readText(s)
	}
	for i := range found {
		scrub(&found[i].Run)
	}
	return found, problems
}

// scrub hides secrets wherever words of a source are kept, whoever has looked for
// them before.
func scrub(run *trace.Run) {
	o := run.Origin
	if o == nil { // Pitot's own, which keeps none
		return
	}
	for _, text := range []*string{&run.Name, &run.Plan.Model, &run.Plan.URL, &run.Env.Server} {
		*text = secret.Mask(*text)
	}
	run.Plan.Workload, run.Env.Tokenizer = run.Plan.Workload.Map(secret.Mask), run.Env.Tokenizer.Map(secret.Mask)
	for _, texts := range [][]string{o.Path, o.Around} {
		for i := range texts {
			texts[i] = secret.Mask(texts[i])
		}
	}
	for name, value := range o.Setup {
		o.Setup[name] = secret.Mask(value)
	}
	for i := range o.Claims {
		o.Claims[i].Text = secret.Mask(o.Claims[i].Text)
	}
}

// headSize is enough of a file to see what it begins with, behind any blank lines.
const headSize = 4096

// isJSON reports whether a source begins as JSON does: logs begin with brackets
// too.
func isJSON(s result.Source) bool {
	head := make([]byte, headSize)
	n, _ := s.Data.ReadAt(head, 0)
	text := string(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")))
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" || strings.HasPrefix(text, wrapping) {
		return false
	}
	inside := strings.TrimLeft(text[1:], " \t\r\n")
	switch text[0] {
	case '{':
		return inside == "" || strings.ContainsAny(inside[:1], `"}`)
	case '[':
		return inside == "" || strings.ContainsAny(inside[:1], `{]`)
	}
	return false
}

// plan is what a table and what stands around it tell of what was asked for.
func (r *Reader) plan(o *trace.Origin, a *tableContext) trace.Load {
	t := r.tool(o.Tool)
	s := t.Log.Settings(o)
	if n := result.Sent(o); n > 0 {
		s["num_prompts"] = strconv.Itoa(n)
	}
	maps.Copy(s, a.traffic)
	maps.Copy(s, a.settings)
	p := t.Plan(s)
	p.Requests = cmp.Or(p.Requests, result.Sent(o))
	return p
}

// contradiction is where the settings of a Namespace are not those of the table
// below it, "" if nowhere.
func (r *Reader) contradiction(o *trace.Origin, settings map[string]string) string {
	if len(settings) == 0 {
		return ""
	}
	t := r.tool(o.Tool)
	p, told := t.Plan(settings), t.Log.Settings(o)
	limit, rate := told["max_concurrency"], told["request_rate"]
	if n, err := strconv.Atoi(limit); err == nil && settings["max_concurrency"] != "" && n != p.Concurrency {
		return "max_concurrency " + settings["max_concurrency"] + ", the table " + limit
	}
	if v, err := strconv.ParseFloat(rate, 64); err == nil && !math.IsInf(v, 0) && settings["request_rate"] != "" && math.Abs(v-p.Rate) > 0.0051 {
		return "request_rate " + settings["request_rate"] + ", the table " + rate
	}
	if n := result.Sent(o); settings["num_prompts"] != "" && p.Requests > 0 && n > p.Requests {
		return "num_prompts " + settings["num_prompts"] + ", the table " + strconv.Itoa(n)
	}
	return ""
}

// server is the server's name and version, as lines around a table tell them.
func (r *Reader) server(around []string, tool string) string {
	found := ""
	for _, text := range around {
		m := r.version.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := strings.ToLower(m[1])
		if found == "" || name == tool {
			found = name + " " + m[2]
		}
	}
	return found
}
