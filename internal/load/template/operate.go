package template

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// longest limits the result of one operation, in bytes and items.
const longest = 1 << 26

// binary is an arithmetic operation, or puts texts together.
func (x *run) binary(operator string, a, b value) value {
	if operator == "~" {
		s, t := x.text(a), x.text(b)
		x.charge(len(s) + len(t))
		return s + t
	}
	x.defined(a)
	x.defined(b)
	if text, ok := plain(a); ok && operator == "%" {
		return x.format(text, b)
	}
	if made, ok := x.join(operator, a, b); ok {
		return made
	}
	n, okN := integral(a)
	m, okM := integral(b)
	if okN && okM && operator != "/" && (operator != "**" || m.Sign() >= 0) {
		return x.integers(operator, n, m)
	}
	f, okF := number(a)
	g, okG := number(b)
	if !okF || !okG {
		x.failf("%s %s %s cannot be computed", typeName(a), operator, typeName(b))
	}
	return x.floats(operator, f, g)
}

// join concatenates and repeats texts and lists.
func (x *run) join(operator string, a, b value) (made value, ok bool) {
	switch operator {
	case "*":
		if _, ok := integral(a); ok {
			a, b = b, a
		}
		return x.repeat(a, b)
	case "+":
		return x.add(a, b)
	}
	return nil, false
}

func (x *run) add(a, b value) (made value, ok bool) {
	s, okA := plain(a)
	t, okB := plain(b)
	if okA && okB {
		x.charge(len(s) + len(t))
		_, safeA := a.(markup)
		_, safeB := b.(markup)
		if safeA || safeB {
			return escapeHTML(x, a) + escapeHTML(x, b), true
		}
		return s + t, true
	}
	l, okA := a.(*list)
	m, okB := b.(*list)
	if okA && okB && l.tuple == m.tuple {
		x.chargeAll(len(l.items)+len(m.items), itemCost)
		return &list{items: slices.Concat(l.items, m.items), tuple: l.tuple}, true
	}
	return nil, false
}

func (x *run) repeat(v, times value) (made value, ok bool) {
	n, ok := integral(times)
	if !ok {
		return nil, false
	}
	count := 0
	if n.Sign() > 0 {
		count = longest
		if n.IsInt64() {
			count = int(min(n.Int64(), longest))
		}
	}
	if text, ok := plain(v); ok {
		x.chargeAll(count, max(1, len(text)))
		return strings.Repeat(text, count), true
	}
	if l, ok := v.(*list); ok {
		x.chargeAll(count, max(1, itemCost*len(l.items)))
		return &list{items: slices.Repeat(l.items, count), tuple: l.tuple}, true
	}
	return nil, false
}

func (x *run) integers(operator string, a, b *big.Int) value {
	x.charge(weight(a) + weight(b))
	r := new(big.Int)
	switch operator {
	case "+":
		return short(r.Add(a, b))
	case "-":
		return short(r.Sub(a, b))
	case "*":
		x.fits(a.BitLen() + b.BitLen() - 1)
		return short(r.Mul(a, b))
	case "**":
		x.power(a, b)
		return short(r.Exp(a, b, nil))
	}
	if b.Sign() == 0 {
		x.failf("division by zero")
	}
	quotient, rest := r.QuoRem(a, b, new(big.Int))
	if rest.Sign() != 0 && rest.Sign() != b.Sign() { // Python rounds down
		quotient.Sub(quotient, big.NewInt(1))
		rest.Add(rest, b)
	}
	if operator == "%" {
		return short(rest)
	}
	return short(quotient)
}

// power requires that a power is not too large, and takes its work off the budget.
func (x *run) power(a, b *big.Int) {
	if a.BitLen() <= 1 {
		return
	}
	bits := maxBits + 1
	if b.IsInt64() {
		bits = int(min(b.Int64(), maxBits+1)) * (a.BitLen() - 1)
	}
	x.fits(bits)
	x.charge(weightOf(bits + a.BitLen()))
}

func (x *run) floats(operator string, a, b float64) value {
	if b == 0 && strings.Contains("// %", operator) {
		x.failf("division by zero")
	}
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "//":
		return math.Floor(a / b)
	case "**":
		return math.Pow(a, b)
	}
	rest := math.Mod(a, b)
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	return rest
}

// sign is a plus or minus before a number.
func (x *run) sign(operator string, v value) value {
	x.defined(v)
	n, ok := integral(v)
	f, isNumber := number(v)
	switch {
	case !isNumber:
		x.failf("%s has no sign", typeName(v))
	case ok && operator == "-":
		return short(new(big.Int).Neg(n))
	case ok:
		return short(n)
	case operator == "-":
		return -f
	}
	return f
}

func (x *run) compare(operator string, a, b value) bool {
	switch operator {
	case "==":
		return x.equal(a, b)
	case "!=":
		return !x.equal(a, b)
	case "in":
		return x.contains(b, a)
	case "not in":
		return !x.contains(b, a)
	}
	order := x.order(a, b)
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// order is negative if a is before b.
func (x *run) order(a, b value) int {
	x.charge(stepCost)
	x.defined(a)
	x.defined(b)
	s, okS := plain(a)
	t, okT := plain(b)
	if okS && okT {
		x.charge(min(len(s), len(t)))
		return strings.Compare(s, t)
	}
	n, okN := integral(a)
	m, okM := integral(b)
	if okN && okM {
		x.charge(weight(n))
		return n.Cmp(m)
	}
	f, okF := number(a)
	g, okG := number(b)
	if okF && okG {
		return cmp.Compare(f, g)
	}
	l, okL := a.(*list)
	k, okK := b.(*list)
	if okL && okK && l.tuple == k.tuple {
		x.deeper()
		defer x.leave()
		return x.orderLists(l.items, k.items)
	}
	x.failf("%s and %s cannot be ordered", typeName(a), typeName(b))
	return 0
}

// orderLists compares by the first unequal items, or by length.
func (x *run) orderLists(a, b []value) int {
	for i := range min(len(a), len(b)) {
		if !x.equal(a[i], b[i]) {
			return x.order(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// contains is "in".
func (x *run) contains(in, v value) bool {
	if text, ok := plain(in); ok {
		part, ok := plain(v)
		if !ok {
			x.failf("cannot search a string for %s", typeName(v))
		}
		x.charge(len(text))
		return strings.Contains(text, part)
	}
	if d, ok := in.(*dict); ok {
		_, found := d.get(x.key(v))
		return found
	}
	return slices.ContainsFunc(x.iterate(in), func(w value) bool { return x.equal(w, v) })
}

func (x *run) item(of, index value) value {
	x.charge(stepCost)
	x.defined(of)
	if d, ok := of.(*dict); ok {
		if hashable(index) {
			if v, ok := d.get(x.key(index)); ok {
				return v
			}
		}
	}
	if n, ok := integral(index); ok && n.IsInt64() {
		if v, ok := x.nth(of, int(n.Int64())); ok {
			return v
		}
	}
	if name, ok := plain(index); ok {
		if v, ok := x.member(of, name); ok {
			return v
		}
		return undefined(typeName(of) + " has no element '" + brief(name) + "'")
	}
	return undefined(typeName(of) + " has no such element")
}

// nth is an item by its position, from the end if that is negative.
func (x *run) nth(of value, n int) (value, bool) {
	var items []value
	if text, ok := plain(of); ok {
		return x.character(text, n)
	} else if l, ok := of.(*list); ok {
		items = l.items
	}
	if n < 0 {
		n += len(items)
	}
	if n < 0 || n >= len(items) {
		return nil, false
	}
	return items[n], true
}

// character is the n-th of a text, from the end if n is negative.
func (x *run) character(text string, n int) (value, bool) {
	x.charge(len(text))
	if n < 0 {
		n += utf8.RuneCountInString(text)
	}
	for _, r := range text {
		if n == 0 {
			return string(r), true
		}
		n--
	}
	return nil, false
}

// slice is of[start:stop:step].
func (x *run) slice(of value, bounds [3]value) value {
	x.defined(of)
	if text, ok := plain(of); ok {
		x.chargeAll(len(text), 3*utf8.UTFMax)
		return string(stretch(x, []rune(text), bounds))
	}
	l, ok := of.(*list)
	if !ok {
		x.failf("%s cannot be sliced", typeName(of))
	}
	x.chargeAll(len(l.items), itemCost)
	return &list{items: stretch(x, l.items, bounds), tuple: l.tuple}
}

// stretch returns the items from start to stop by step.
func stretch[T any](x *run, items []T, bounds [3]value) []T {
	step := 1
	if bounds[2] != nil {
		if step = x.index(bounds[2]); step == 0 {
			x.failf("a slice has step 0")
		}
	}
	low, high := 0, len(items)
	if step < 0 {
		low, high = -1, len(items)-1
	}
	clip := func(v value, preset int) int {
		if v == nil {
			return preset
		}
		n := x.index(v)
		if n < 0 {
			n += len(items)
		}
		return min(max(n, low), high)
	}
	from, to := clip(bounds[0], low), clip(bounds[1], high)
	if step < 0 {
		from, to = clip(bounds[0], high), clip(bounds[1], low)
	}
	var taken []T
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		taken = append(taken, items[i])
		if step > len(items) || step < -len(items) {
			break
		}
	}
	return taken
}

// call calls a function, a macro, or a recursive loop.
func (x *run) call(of value, g given) value {
	x.charge(stepCost)
	switch f := of.(type) {
	case *method:
		return f.as(f.name+"()")(x, f.of, g)
	case *closure:
		return f.call(x, g)
	case *loop:
		if f.again != nil && len(g.list) == 1 {
			return f.again(g.list[0])
		}
	}
	x.defined(of)
	x.failf("cannot call %s", typeName(of))
	return nil
}

// attribute is of.name: members of the value itself come before the keys of a dict.
func (x *run) attribute(of value, name string) value {
	x.defined(of)
	if v, ok := x.member(of, name); ok {
		return v
	}
	if d, ok := of.(*dict); ok {
		if v, ok := d.get(name); ok {
			return v
		}
	}
	return undefined(typeName(of) + " has no attribute '" + brief(name) + "'")
}

func (x *run) member(of value, name string) (value, bool) {
	var methods map[string]function
	switch of := of.(type) {
	case string, markup:
		methods = textMethods
	case *list:
		methods = listMethods
	case *dict:
		methods = dictMethods
	case *namespace:
		v, ok := of.vars[name]
		return v, ok
	case *loop:
		return of.member(name)
	case *closure:
		if name == "name" {
			return of.name, true
		}
	}
	if f, ok := methods[name]; ok {
		return &method{of, name, f}, true
	}
	return nil, false
}
