package profile

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Default is the profile of an engine without another one.
const Default = "small-chat"

//go:embed profiles/*.yaml
var library embed.FS

// Names returns the embedded profiles, in order.
func Names() []string {
	files, _ := fs.Glob(library, "profiles/*.yaml") // the pattern is valid
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	slices.Sort(names) // without the ending "a" is before "a-b"
	return names
}

// Text is the YAML of an embedded profile.
func Text(name string) ([]byte, error) {
	data, err := library.ReadFile("profiles/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("unknown profile %q%s There are %s", name, orStop(plan.Suggest(name, Names())), strings.Join(Names(), ", "))
	}
	return data, nil
}

// orStop ends a sentence without a hint.
func orStop(hint string) string {
	if hint == "" {
		return "."
	}
	return hint
}

// Load reads an embedded profile.
func Load(name string) (*Profile, error) {
	data, err := Text(name)
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", data)
}
