package ingest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A Reader reads what some tools leave behind.
type Reader struct {
	tools   []tool.Tool
	formats []result.Format
	tables  *result.Reader

	command   expression     // of a command line of a tool or of its server
	described *regexp.Regexp // a line on the environment
	version   *regexp.Regexp // a line of a listing or of a server that tells its version
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
	r.command = compile(strings.Join(commands, "|"))
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
