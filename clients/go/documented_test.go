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

// Linters check the form of doc comments; that there is one, this does.
func TestEverythingPublicIsDocumented(t *testing.T) {
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
	for _, one := range public.Types {
		want(one.Name, one.Doc)
		functions = append(append(functions, one.Funcs...), one.Methods...)
		public.Consts = append(public.Consts, one.Consts...)
	}
	for _, one := range functions {
		want(one.Name, one.Doc)
	}
	for _, one := range public.Consts {
		for _, spec := range one.Decl.Specs {
			named := spec.(*ast.ValueSpec)
			text := named.Doc.Text()
			if len(one.Decl.Specs) == 1 {
				text += one.Doc
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

func TestWhatTheReadmeShowsIsCompiled(t *testing.T) {
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
			t.Errorf("neither example_test.go nor examples/first/main.go has\n%s", block[1])
		}
	}
	if !strings.Contains(string(readme), "```go\n"+string(program)+"```") {
		t.Error("README.md does not show the whole of examples/first/main.go")
	}
	if len(blocks) < 6 {
		t.Errorf("only %d blocks were found", len(blocks))
	}
}
