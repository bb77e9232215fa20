package conform

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/pitot-bench/pitot/internal/plan/yamltree"
)

// named are the grids of the program, in the notation of ParseCells.
var named = map[string]string{
	// A few seconds: does it work at all?
	"smoke": `
		streams=4 step=10ms output=16 requests=8;
		streams=16 arrivals=lockstep step=10ms output=16 requests=32;
		rate=100 step=5ms output=2 requests=50`,
	// Some minutes: from one stream to thousands, both arrivals, and what disturbs.
	"standard": `
		streams=1 step=10ms output=64 requests=10;
		streams=16 step=20ms output=64 requests=64;
		streams=64 step=20ms output=128 requests=128;
		streams=64 arrivals=lockstep step=20ms output=128 requests=128;
		streams=256 step=50ms output=96 requests=256;
		streams=256 arrivals=lockstep step=25ms output=200 requests=256;
		streams=1024 step=50ms output=100 requests=1024;
		streams=1024 arrivals=lockstep step=25ms output=160 requests=1024;
		streams=4096 step=200ms output=40 requests=4096;
		streams=256 arrivals=lockstep step=50ms output=100 requests=256 busy=true;
		streams=64 step=20ms output=64 requests=192 faults=0.1;
		rate=200 step=5ms output=4 requests=1000`,
	// All of standard, what lies between, and the ends.
	"full": `
		streams=1 step=10ms output=64 requests=20;
		streams=16 step=20ms output=64 requests=64;
		streams=16 arrivals=lockstep step=20ms output=64 requests=64;
		streams=64 step=20ms output=128 requests=128;
		streams=64 arrivals=lockstep step=20ms output=128 requests=128;
		streams=256 step=50ms output=96 requests=512;
		streams=256 step=12500us output=400 requests=256;
		streams=256 arrivals=lockstep step=25ms output=200 requests=256;
		streams=1024 step=50ms output=100 requests=1024;
		streams=1024 step=25ms output=200 requests=1024;
		streams=1024 arrivals=lockstep step=25ms output=200 requests=1024;
		streams=1024 arrivals=lockstep step=40ms output=125 requests=1024;
		streams=4096 step=200ms output=60 requests=4096;
		streams=4096 arrivals=lockstep step=200ms output=60 requests=4096;
		streams=10000 step=500ms output=120 requests=10000;
		streams=10000 arrivals=lockstep step=1s output=40 requests=10000;
		streams=256 step=50ms output=100 requests=256 busy=true;
		streams=256 arrivals=lockstep step=50ms output=100 requests=256 busy=true;
		streams=64 step=20ms output=64 requests=192 faults=0.1;
		rate=50 step=5ms output=4 requests=500;
		rate=200 step=5ms output=4 requests=2000;
		rate=1000 step=2ms output=2 requests=10000;
		rate=5000 step=1ms output=1 requests=50000`,
}

// Named is a grid of the program.
func Named(name string) ([]Cell, bool) {
	text, ok := named[name]
	if !ok {
		return nil, false
	}
	cells, err := ParseCells(text)
	if err != nil {
		panic(fmt.Sprintf("grid %s: %v", name, err)) // a test parses them all
	}
	return cells, true
}

// GridNames are the grids of the program, the smallest first.
func GridNames() []string { return []string{"smoke", "standard", "full"} }

// ParseCells reads cells as they are written on a command line: fields with
// blanks or commas between, cells with semicolons between.
//
//	streams=64 arrivals=lockstep step=20ms; rate=100 output=4
func ParseCells(text string) ([]Cell, error) {
	var cells []Cell
	var errs []error
	for part := range strings.SplitSeq(text, ";") {
		words := strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" ,\t\n", r) })
		if len(words) == 0 {
			continue
		}
		cell, err := parseCell(words)
		if err != nil {
			errs = append(errs, fmt.Errorf("cell %q: %w", strings.Join(words, " "), err))
		}
		cells = append(cells, cell)
	}
	if cells == nil {
		errs = append(errs, errors.New("there is no cell in it"))
	}
	return cells, errors.Join(errs...)
}

func parseCell(words []string) (Cell, error) {
	cell := blank()
	for _, w := range words {
		field, text, ok := strings.Cut(w, "=")
		if !ok {
			return cell, fmt.Errorf("%q: must be FIELD=VALUE", w)
		}
		if err := cell.set(field, text); err != nil {
			return cell, fmt.Errorf("%s: %w", field, err)
		}
	}
	return cell, cell.complete()
}

// ReadGrid reads the cells of a YAML file: a list, alone or under cells.
func ReadGrid(file string, data []byte) ([]Cell, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	g := gridFile{name: file, lines: strings.Split(string(data), "\n")}
	parsed, err := parser.ParseBytes(data, 0)
	if bad := yaml.Error(nil); errors.As(err, &bad) {
		g.failf(bad.GetToken(), "%s", bad.GetMessage())
	} else if err != nil {
		g.failf(nil, "%v", err)
	}
	if g.errs == nil {
		g.documents(parsed)
	}
	return g.cells, errors.Join(g.errs...)
}

// A gridFile is a file on its way to cells.
type gridFile struct {
	name  string
	lines []string
	cells []Cell
	errs  []error
}

func (g *gridFile) failf(t *token.Token, format string, a ...any) {
	m := yamltree.NewMistake(g.name, g.lines, t)
	m.Problem = fmt.Sprintf(format, a...)
	g.errs = append(g.errs, &m)
}

func (g *gridFile) documents(f *ast.File) {
	var bodies []ast.Node
	for _, d := range f.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	switch len(bodies) {
	case 0:
		g.failf(nil, "there is no cell in it")
	case 1:
		g.list(bodies[0])
	default:
		g.failf(bodies[1].GetToken(), "a second document begins; a file holds one grid")
	}
}

func (g *gridFile) list(node ast.Node) {
	pairs := yamltree.Pairs(node)
	if len(pairs) == 1 && pairs[0].Key.GetToken().Value == "cells" {
		node = pairs[0].Value
	}
	items, ok := node.(*ast.SequenceNode)
	if !ok {
		g.failf(node.GetToken(), "must be a list of cells, alone or under cells:")
		return
	}
	for _, item := range items.Values {
		g.cell(item)
	}
}

func (g *gridFile) cell(node ast.Node) {
	pairs := yamltree.Pairs(node)
	if len(pairs) == 0 {
		g.failf(node.GetToken(), "a cell must be a map of fields: %s", strings.Join(Fields(), ", "))
		return
	}
	cell, seen, before := blank(), map[string]int{}, len(g.errs)
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		if line, twice := seen[key.Value]; twice {
			g.failf(key, "%s: is given twice, first in line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Position.Line
		text, ok := yamltree.Plain(pair.Value)
		if !ok {
			g.failf(pair.Value.GetToken(), "%s: must be a plain value", key.Value)
			continue
		}
		if err := cell.set(key.Value, text); err != nil {
			g.failf(key, "%s: %v", key.Value, err)
		}
	}
	if len(g.errs) > before {
		return
	}
	if err := cell.complete(); err != nil {
		g.failf(pairs[0].Key.GetToken(), "%v", err)
	}
	g.cells = append(g.cells, cell)
}
