package template

import (
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// Work and memory of a rendering have one budget, in bytes. A text is charged for its size
// before it is made, a search for the length of the searched value, and everything else as a
// step:
//
//	'ab' * 1000            2000 bytes
//	x in text              as many bytes as text has
//	range(1000)            1000 items
//	{% for %}              a scope each time around, and its steps
//
// So neither a short template with large numbers nor a loop around a cheap one can take
// more than a fixed part of the memory, or of the time.

// The budget of a rendering: a constant, and more for the bytes of its input.
const (
	budget        = 1 << 26
	budgetOfAByte = 1 << 6
)

// What things cost, in bytes.
const (
	stepCost  = 4
	itemCost  = 48  // an item of a list, with the head of its text
	entryCost = 128 // an entry of a dict
	scopeCost = 256 // the variables of a part of a template

	outputCost = 16 // a byte of the chat, which has to be tokenized
)

// maxDigits limits the integers that are written or read, as in Python.
const maxDigits = 4300

// maxBits limits all integers; it holds maxDigits.
const maxBits = 1 << 14

func (x *run) at(line int) {
	x.line = line
	x.charge(stepCost)
}

// charge takes n bytes off the budget.
func (x *run) charge(n int) {
	if x.budget -= n; x.budget < 0 {
		x.spent()
	}
}

func (x *run) spent() {
	x.failf("the template exceeds the limit for rendering a chat")
}

// chargeAll takes n things of the same cost off the budget.
func (x *run) chargeAll(n, cost int) {
	if n > x.budget/cost {
		x.spent()
	}
	x.charge(n * cost)
}

func (x *run) clone(items []value) []value {
	x.chargeAll(len(items), itemCost)
	return slices.Clone(items)
}

func (x *run) push(items []value, v value) []value {
	x.charge(itemCost)
	return append(items, v)
}

func (x *run) inner(s *scope) *scope {
	x.charge(scopeCost)
	return &scope{map[string]value{}, s}
}

// A builder makes a text, which is charged as it grows.
type builder struct {
	run  *run
	text strings.Builder
}

func (b *builder) Write(p []byte) (int, error) {
	b.run.charge(len(p))
	return b.text.Write(p)
}

func (b *builder) WriteString(s string) {
	b.run.charge(len(s))
	b.text.WriteString(s)
}

func (b *builder) writeByte(c byte) {
	b.run.charge(1)
	b.text.WriteByte(c)
}

func (b *builder) writeRune(r rune) {
	b.run.charge(utf8.UTFMax)
	b.text.WriteRune(r)
}

// weight is the work of one operation on an integer: its words, each with each.
func weight(n *big.Int) int { return weightOf(n.BitLen()) }

func weightOf(bits int) int {
	words := 1 + bits/64
	return words * words
}

// fits requires that an integer of this many bits can be made.
func (x *run) fits(bits int) {
	if bits > maxBits {
		x.failf("an integer of more than %d bits is too large", maxBits)
	}
}

// parse is an integer in digits of a base, if it is one and not too long.
func (x *run) parse(digits string, base int) (*big.Int, bool) {
	if len(digits) > maxDigits {
		return nil, false
	}
	x.charge(weightOf(4 * len(digits)))
	return new(big.Int).SetString(digits, base)
}

func (x *run) digits(n *big.Int) string {
	x.charge(weight(n))
	return n.String()
}

// brief is a text from a template or a chat for a message: its beginning.
func brief(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
