package text

import "slices"

// Groups collect names by what is said of them, in the order in which each was said
// first.
type Groups []Group

// A Group is the names of which the same is said.
type Group struct {
	Said  string
	Names []string
}

// Add puts a name into the group of which that is said.
func (g *Groups) Add(said, name string) {
	i := slices.IndexFunc(*g, func(o Group) bool { return o.Said == said })
	if i < 0 {
		i, *g = len(*g), append(*g, Group{Said: said})
	}
	if group := &(*g)[i]; !slices.Contains(group.Names, name) {
		group.Names = append(group.Names, name)
	}
}
