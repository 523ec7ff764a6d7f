// Pack writes the zip of the module into a folder that the go command can use as a module proxy:
//
//	go run ./pack MODULE_FOLDER PROXY_FOLDER
//
// The version is that of version.go. The zip excludes the nested modules (tools, conformance).
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

var constant = regexp.MustCompile(`(?m)^const Version = "(.+)"$`)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack MODULE_FOLDER PROXY_FOLDER")
		os.Exit(2)
	}
	packed, err := pack(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
	fmt.Println(packed)
}

// pack writes the files that the go command requests from a proxy, and returns the path of the zip.
func pack(source, proxy string) (string, error) {
	goMod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", err
	}
	version, err := os.ReadFile(filepath.Join(source, "version.go"))
	if err != nil {
		return "", err
	}
	found := constant.FindSubmatch(version)
	if found == nil {
		return "", fmt.Errorf("version.go has no constant Version")
	}
	packed := module.Version{Path: modfile.ModulePath(goMod), Version: "v" + string(found[1])}
	escaped, err := module.EscapePath(packed.Path)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	base := filepath.Join(folder, packed.Version)
	for name, content := range map[string][]byte{
		filepath.Join(folder, "list"): []byte(packed.Version + "\n"),
		base + ".info":                fmt.Appendf(nil, "{\"Version\":%q}\n", packed.Version),
		base + ".mod":                 goMod,
	} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return "", err
		}
	}
	file, err := os.Create(base + ".zip")
	if err != nil {
		return "", err
	}
	if err := zip.CreateFromDir(file, packed, source); err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}
