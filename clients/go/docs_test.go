package sodafountain_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Linters check the form of doc comments. This test checks that every public name has one.
func TestEveryPublicNameIsDocumented(t *testing.T) {
	files := token.NewFileSet()
	var parsed []*ast.File
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
	}
	public, err := doc.NewFromFiles(files, parsed, "sodafountain.internal/sodafountain")
	if err != nil {
		t.Fatal(err)
	}
	want := func(name, text string) {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s has no doc comment", name)
		}
	}
	functions := public.Funcs
	for _, item := range public.Types {
		want(item.Name, item.Doc)
		functions = append(append(functions, item.Funcs...), item.Methods...)
		public.Consts = append(public.Consts, item.Consts...)
	}
	for _, item := range functions {
		want(item.Name, item.Doc)
	}
	for _, item := range public.Consts {
		for _, spec := range item.Decl.Specs {
			named := spec.(*ast.ValueSpec)
			text := named.Doc.Text()
			if len(item.Decl.Specs) == 1 {
				text += item.Doc
			}
			want(named.Names[0].Name, text)
		}
	}
	for _, file := range parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			if field, ok := node.(*ast.Field); ok && len(field.Names) == 1 && field.Names[0].IsExported() {
				want("field "+field.Names[0].Name, field.Doc.Text())
			}
			_, isFunction := node.(*ast.FuncType)
			return !isFunction
		})
	}
	if len(functions) < 30 {
		t.Errorf("only %d functions were found", len(functions))
	}
}

func TestTheCodeOfTheReadmeIsCompiled(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("examples/first/main.go")
	if err != nil {
		t.Fatal(err)
	}
	compiled := string(examples) + string(program)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	for _, block := range blocks {
		if !strings.Contains(compiled, string(block[1])) {
			t.Errorf("neither example_test.go nor examples/first/main.go contains\n%s", block[1])
		}
	}
	if !strings.Contains(string(readme), "```go\n"+string(program)+"```") {
		t.Error("README.md does not contain examples/first/main.go")
	}
	if len(blocks) < 6 {
		t.Errorf("only %d blocks were found", len(blocks))
	}
}
