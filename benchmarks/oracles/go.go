// An oracle of Go: the names and keywords of files, by go/parser, go/types and go/scanner.
//
//	go run go.go < PATHS        paths, one a line
//
// Writes a line of JSON for each file: path, and tokens (offset in bytes, text, kind) or error. DEFINITION is the kind of
// names that refer to nothing; of several kinds between "|", any is right. Names of the standard library and of the
// file's package are resolved; those of other modules are not.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

type answer struct {
	Path   string   `json:"path"`
	Tokens [][3]any `json:"tokens,omitempty"`
	Error  string   `json:"error,omitempty"`
}

// standard imports packages of the standard library; others are empty.
type standard struct{ source types.Importer }

func (s standard) Import(path string) (*types.Package, error) {
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if known, err := s.source.Import(path); err == nil {
			return known, nil
		}
	}
	return types.NewPackage(path, filepath.Base(path)), nil
}

var files = token.NewFileSet()
var library types.Importer

// check resolves the names of a file, together with the files of its package.
func check(file *ast.File, path string) *types.Info {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	group := []*ast.File{file}
	siblings, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.go"))
	for _, sibling := range siblings {
		if sibling == path {
			continue
		}
		if other, err := parser.ParseFile(files, sibling, nil, parser.SkipObjectResolution); err == nil && other.Name.Name == file.Name.Name {
			group = append(group, other)
		}
	}
	config := types.Config{Importer: standard{library}, Error: func(error) {}, FakeImportC: true}
	config.Check("p", files, group, info)
	return info
}

type walk struct {
	info    *types.Info
	parents map[ast.Node]ast.Node
}

// called reports whether an expression is the function of a call.
func (w walk) called(node ast.Node) bool {
	for {
		switch parent := w.parents[node].(type) {
		case *ast.ParenExpr:
			node = parent
		case *ast.StarExpr:
			if _, ok := w.parents[parent].(*ast.ParenExpr); !ok {
				return false
			}
			node = parent
		case *ast.IndexExpr:
			// f[int](x) calls f; an element of a slice does not.
			if _, ok := w.info.Types[parent.X].Type.(*types.Signature); parent.X != node || !ok {
				return false
			}
			node = parent
		case *ast.IndexListExpr:
			node = parent
		case *ast.CallExpr:
			return parent.Fun == node
		default:
			return false
		}
	}
}

// typed reports whether an expression stands where only a type can.
func (w walk) typed(node ast.Node) bool {
	for {
		switch parent := w.parents[node].(type) {
		case *ast.Field:
			return parent.Type == node
		case *ast.CompositeLit:
			return parent.Type == node
		case *ast.ValueSpec:
			return parent.Type == node
		case *ast.TypeSpec:
			return parent.Type == node
		case *ast.TypeAssertExpr:
			return parent.Type == node
		case *ast.MapType, *ast.ChanType:
			return true
		case *ast.ArrayType:
			return parent.Elt == node
		case *ast.CaseClause:
			_, ok := w.parents[w.parents[parent]].(*ast.TypeSwitchStmt)
			return ok
		case *ast.StarExpr, *ast.ParenExpr, *ast.Ellipsis:
			node = parent
		case *ast.IndexExpr:
			node = parent
		case *ast.IndexListExpr:
			node = parent
		default:
			return false
		}
	}
}

func (w walk) kind(name *ast.Ident) string {
	if name.Name == "_" {
		return "DEFINITION"
	}
	plain, place := "VARIABLE", ast.Node(name)
	if selector, ok := w.parents[name].(*ast.SelectorExpr); ok && selector.Sel == name {
		plain, place = "FIELD", selector
	}
	switch object := w.info.Uses[name].(type) {
	case *types.PkgName, *types.Label:
		return "VARIABLE"
	case *types.TypeName:
		return "TYPE_REFERENCE"
	case *types.Nil:
		return "KEYWORD"
	case *types.Const:
		if object.Parent() == types.Universe {
			return "KEYWORD"
		}
	case *types.Var:
		if object.IsField() {
			plain = "FIELD"
		}
	case nil:
		if _, ok := w.info.Defs[name]; ok {
			return "DEFINITION"
		}
		return w.unresolved(name, plain, place)
	}
	if w.called(place) {
		return "METHOD_CALL"
	}
	return plain
}

// unresolved is the kind of a name of another module.
func (w walk) unresolved(name *ast.Ident, plain string, place ast.Node) string {
	if w.typed(place) {
		return "TYPE_REFERENCE"
	}
	switch parent := w.parents[place].(type) {
	case *ast.BranchStmt:
		return "VARIABLE"
	case *ast.LabeledStmt, *ast.ImportSpec:
		return "DEFINITION"
	case *ast.KeyValueExpr:
		if _, ok := w.parents[parent].(*ast.CompositeLit); ok && parent.Key == name {
			return "FIELD|VARIABLE"
		}
	}
	if w.called(place) {
		return "METHOD_CALL|TYPE_REFERENCE"
	}
	switch w.parents[place].(type) {
	case *ast.StarExpr, *ast.ParenExpr, *ast.IndexExpr, *ast.IndexListExpr, *ast.CallExpr:
		// A type, as in new(x.T) and f[x.T](), or a value.
		return plain + "|TYPE_REFERENCE"
	}
	return plain
}

func read(path string) (result answer) {
	result.Path = path
	source, err := os.ReadFile(path)
	if err != nil {
		return answer{Path: path, Error: err.Error()}
	}
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return answer{Path: path, Error: err.Error()}
	}
	w := walk{check(file, path), map[ast.Node]ast.Node{}}
	kinds := map[int]string{}
	var stack []ast.Node
	ast.Inspect(file, func(node ast.Node) bool {
		if node == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			w.parents[node] = stack[len(stack)-1]
		}
		stack = append(stack, node)
		return true
	})
	ast.Inspect(file, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok {
			kinds[files.Position(name.Pos()).Offset] = w.kind(name)
		}
		return true
	})
	own := token.NewFileSet().AddFile(path, -1, len(source))
	var s scanner.Scanner
	s.Init(own, source, nil, 0)
	for {
		position, tok, text := s.Scan()
		if tok == token.EOF {
			return
		}
		offset := own.Offset(position)
		// No token stands in the clause of the package.
		if tok.IsKeyword() && tok != token.PACKAGE {
			result.Tokens = append(result.Tokens, [3]any{offset, text, "KEYWORD"})
		} else if tok == token.IDENT && kinds[offset] != "" {
			result.Tokens = append(result.Tokens, [3]any{offset, text, kinds[offset]})
		}
	}
}

func main() {
	build.Default.CgoEnabled = false
	library = importer.ForCompiler(files, "source", nil)
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := out.Encode(read(lines.Text())); err != nil {
			panic(err)
		}
	}
}
