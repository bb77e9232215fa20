package pyrand

// Shuffle is shuffle of a list of n elements; swap exchanges two of them. numpy uses the method of
// Legacy for it.
func (g *Generator) Shuffle(n int, swap func(i, j int)) { shuffle(g, n, swap) }

func (g *Generator) uint64() uint64 { return g.pcg.uint64() }

// Permutation is permutation(n): 0..n-1 in random order.
func (g *Generator) Permutation(n int) []int { return permuted(n, g.Shuffle) }

// Permutation is permutation(n): 0..n-1 in random order.
func (r *Legacy) Permutation(n int) []int { return permuted(n, r.Shuffle) }

// Choice is choice(n, size=k): k indexes below n, each at most once unless replace.
// pandas uses it to draw rows: DataFrame.sample(k, random_state=seed). It panics
// when k > n without replace.
func (r *Legacy) Choice(n, k int, replace bool) []int {
	if !replace {
		return r.Permutation(n)[:k]
	}
	out := make([]int, k)
	for i := range out {
		out[i] = int(r.Randint(0, int64(n)))
	}
	return out
}

func permuted(n int, shuffle func(n int, swap func(i, j int))) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}
