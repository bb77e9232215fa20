//go:build ignore

// Command empty takes the bodies of functions, the data of variables and embedded files out of the Go
// files below folders, for scripts/weigh.sh. What is left compiles, and panics.
package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	for _, folder := range os.Args[1:] {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
				return err
			}
			return empty(name)
		})
		if err != nil {
			log.Fatal(err)
		}
	}
}

// empty rewrites a file. Comments go, since one may embed a file, but for build constraints.
func empty(name string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	file.Comments = slices.DeleteFunc(file.Comments, func(c *ast.CommentGroup) bool { return c.End() > file.Package })
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			emptyFunction(d)
		case *ast.GenDecl:
			d.Doc = nil
			if d.Tok == token.VAR {
				emptyVariables(d.Specs)
			}
		}
	}
	blankImports(file)
	var out bytes.Buffer
	if err := printer.Fprint(&out, set, file); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o600)
}

func emptyFunction(d *ast.FuncDecl) {
	d.Doc = nil
	switch {
	case d.Body == nil: // in assembly
	case d.Recv == nil && d.Name.Name == "init":
		d.Body.List = nil
	default:
		d.Body.List = []ast.Stmt{&ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent("panic"), Args: []ast.Expr{ast.NewIdent("nil")}}}}
	}
}

// emptyVariables keeps the types of variables, and values that are no lists.
func emptyVariables(specs []ast.Spec) {
	for _, s := range specs {
		v := s.(*ast.ValueSpec)
		v.Doc, v.Comment = nil, nil
		if v.Type != nil {
			v.Values = nil
		}
		for _, value := range v.Values {
			list, ok := value.(*ast.CompositeLit)
			if !ok {
				continue
			}
			array, ok := list.Type.(*ast.ArrayType)
			if ok {
				_, ok = array.Len.(*ast.Ellipsis) // its length is its type
			}
			if !ok {
				list.Elts = nil
			}
		}
	}
}

var major = regexp.MustCompile(`^v\d+$`)

// blankImports keeps imports that nothing names any more, for what they import.
func blankImports(file *ast.File) {
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, i := range file.Imports {
		from := strings.Trim(i.Path.Value, `"`)
		name := path.Base(from)
		if major.MatchString(name) {
			name = path.Base(path.Dir(from))
		}
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "go-"), "-go"), ".go")
		kept := used[name] || used[path.Base(from)]
		if i.Name != nil {
			kept = used[i.Name.Name] || i.Name.Name == "."
		}
		if !kept {
			i.Name = ast.NewIdent("_")
		}
	}
}
