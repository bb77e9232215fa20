package comparing

import "slices"

// An lru remembers the values that were used last. It is not safe for concurrent use.
type lru[T any] struct {
	most    int // values
	weight  int // of all together, unless one alone is heavier; 0: any
	entries []entry[T]
}

// An entry is a value; those used last are at the end.
type entry[T any] struct {
	key    string
	weight int
	value  T
}

func (k *lru[T]) get(key string) (value T, ok bool) {
	i := slices.IndexFunc(k.entries, func(e entry[T]) bool { return e.key == key })
	if i < 0 {
		return value, false
	}
	e := k.entries[i]
	k.entries = append(slices.Delete(k.entries, i, i+1), e)
	return e.value, true
}

func (k *lru[T]) put(key string, value T, weight int) {
	k.entries = slices.DeleteFunc(k.entries, func(e entry[T]) bool { return e.key == key })
	k.entries = append(k.entries, entry[T]{key, weight, value})
	total := 0
	for i, e := range slices.Backward(k.entries) {
		if total += e.weight; i < len(k.entries)-1 && (len(k.entries)-i > k.most || k.weight > 0 && total > k.weight) {
			k.entries = slices.Delete(k.entries, 0, i+1)
			return
		}
	}
}
