// Package yamltree looks at the nodes of a YAML file: the members of a map, a
// scalar as it is written, and a mistake with its place and a caret under it.
//
// What a file means is for those who read it. They walk its tree, since decoding
// into a struct ends at the first mistake and forgets where the others are.
package yamltree

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A Mistake is something wrong at a place in a file.
type Mistake struct {
	File    string
	Line    int    // from 1
	Column  int    // from 1, in characters
	Text    string // of the line
	Problem string
}

// NewMistake is a mistake, yet without its Problem, at a token of a file of these
// lines; without a token it is at the top.
func NewMistake(file string, lines []string, t *token.Token) Mistake {
	m := Mistake{File: file, Line: 1, Column: 1}
	if t != nil && t.Position != nil {
		m.Line, m.Column = t.Position.Line, t.Position.Column
	}
	if m.Line >= 1 && m.Line <= len(lines) {
		m.Text = strings.TrimRight(lines[m.Line-1], "\r")
	}
	return m
}

// Error gives the place and the problem, and under them the line with a caret.
func (m *Mistake) Error() string {
	number := fmt.Sprint(m.Line)
	gutter := strings.Repeat(" ", len(number))
	caret := strings.Repeat(" ", max(0, m.Column-1)) + "^"
	return fmt.Sprintf("%s:%d:%d: %s\n  %s | %s\n  %s | %s", m.File, m.Line, m.Column, m.Problem, number, m.Text, gutter, caret)
}

// Pairs are the members of a map.
func Pairs(node ast.Node) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// Plain is a scalar as it is written; false for what is none.
func Plain(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}
