package engine

import "slices"

// adapters are the LoRA adapters of a core: a limited number is loaded at once, and
// the least recently used one is evicted for another. Without slots there is no
// limit and no loading.
type adapters struct {
	slots  int
	users  map[string]int // running sequences by adapter
	loaded []string       // in use or idle, the most recently used last
}

// fit reports whether a sequence with this adapter can run alongside the running
// ones.
func (a *adapters) fit(name string) bool {
	return a.slots == 0 || name == "" || a.users[name] > 0 || len(a.users) < a.slots
}

// take adds a user of an adapter that fits and returns the number of adapters
// loaded for it, 0 or 1.
func (a *adapters) take(name string) int {
	if a.slots == 0 || name == "" {
		return 0
	}
	if a.users == nil {
		a.users = make(map[string]int)
	}
	a.users[name]++
	if i := slices.Index(a.loaded, name); i >= 0 {
		a.loaded = append(slices.Delete(a.loaded, i, i+1), name)
		return 0
	}
	if len(a.loaded) == a.slots {
		i := slices.IndexFunc(a.loaded, func(n string) bool { return a.users[n] == 0 })
		a.loaded = slices.Delete(a.loaded, i, i+1)
	}
	a.loaded = append(a.loaded, name)
	return 1
}

func (a *adapters) drop(name string) {
	if a.slots == 0 || name == "" {
		return
	}
	if a.users[name]--; a.users[name] == 0 {
		delete(a.users, name)
	}
}
