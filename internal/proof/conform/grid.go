package conform

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// named are the built-in grids, in the notation of ParseCells.
var named = map[string]string{
	// A few seconds: does it work at all?
	"smoke": `
		streams=4 step=10ms output=16 requests=8;
		streams=16 arrivals=lockstep step=10ms output=16 requests=32;
		rate=100 step=5ms output=2 requests=50`,
	// Some minutes: from one stream to thousands, both arrivals, and disturbances.
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
	// All of standard, intermediate loads, and the extremes.
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

// Named returns a built-in grid.
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

// GridNames lists the built-in grids, the smallest first.
func GridNames() []string { return []string{"smoke", "standard", "full"} }

// ParseCells reads cells in command line notation: fields separated by spaces or
// commas, cells separated by semicolons.
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
		errs = append(errs, errors.New("there are no cells in it"))
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
	doc, err := plan.Parse(file, data)
	if err != nil {
		return nil, err
	}
	list, path := doc.Root, ""
	if inner := list.Member("cells"); inner != nil && len(list.Members) == 1 {
		list, path = inner, "cells"
	}
	var problems plan.Problems
	problems.If(list.Kind == plan.Null || list.Kind == plan.List && len(list.Items) == 0, path, nil, "there are no cells in it")
	problems.If(list.Kind != plan.Null && list.Kind != plan.List, path, nil, "must be a list of cells, alone or under cells:")
	cells := make([]Cell, len(list.Items))
	for i, item := range list.Items {
		var some plan.Problems
		cells[i], some = readCell(item)
		problems = append(problems, some.Below(plan.Item(path, i))...)
	}
	return cells, doc.Explain(problems)
}

func readCell(n *plan.Node) (Cell, plan.Problems) {
	var problems plan.Problems
	cell := blank()
	problems.If(len(n.Members) == 0, "", nil, "a cell must be a map of fields: %s", strings.Join(Fields(), ", "))
	for _, m := range n.Members {
		plain := m.Value.Kind == plan.String || m.Value.Kind == plan.Number || m.Value.Kind == plan.Bool
		problems.If(!plain, m.Key, nil, "must be a plain value")
		if plain {
			err := cell.set(m.Key, m.Value.Text)
			problems.If(err != nil, m.Key, nil, "%v", err)
		}
	}
	if problems == nil {
		err := cell.complete()
		problems.If(err != nil, "", nil, "%v", err)
	}
	return cell, problems
}
