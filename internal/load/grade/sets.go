package grade

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// The generated sets need no file and no licence. Each prompt has a fixed form, so that the
// built-in engine can answer it too.

// Sets are their names, with the graders of their answers. An answer to recall may go on behind
// the number, where a server has to write a given length.
var Sets = map[string]string{"recall": "contains", "sums": "number", "copy": "exact"}

// Words of names, each of one or two tokens in most vocabularies.
var (
	first = strings.Fields(`amber bold calm dark early fair gentle happy ivory jolly kind light merry narrow olive plain
		quiet rapid silver tall upper violet warm young ancient bright cool deep even final great hidden`)
	second = strings.Fields(`apple bear cloud door eagle field garden horse island jacket king lemon mountain north ocean
		paper queen river stone tower uncle valley window yard anchor bridge candle desert engine forest guitar harbor`)
	third = strings.Fields(`alpha beta gamma delta echo green orange purple black white yellow metal cotton sugar winter
		summer spring autumn monday friday london paris dublin oslo`)
)

// name is one of 24 576 names, by its number.
func name(i int) string {
	a, rest := i%len(first), i/len(first)
	b, c := rest%len(second), rest/len(second)%len(third)
	return first[a] + " " + second[b] + " " + third[c]
}

const names = 32 * 32 * 24

// MostEntries is the number of entries that one prompt of recall can have.
const MostEntries = names

// Recall asks for the number of one of some entries, 1 to MostEntries, at any depth. The names
// stand in an order of their own and begin somewhere else in each prompt, so that a prefix
// cache knows none of them.
func Recall(d *rand.Rand, entries int) (prompt, answer string) {
	var b strings.Builder
	fmt.Fprintf(&b, "Register %d has %d entries, each with its number.\n\n", d.IntN(1e9), entries)
	at, step := d.IntN(names), 2*d.IntN(names/2)+1
	for gcd(step, names) != 1 {
		step += 2
	}
	asked := d.IntN(entries)
	var who string
	for i := range entries {
		n, number := name(at), strconv.Itoa(100_000+d.IntN(900_000))
		if i == asked {
			who, answer = n, number
		}
		fmt.Fprintf(&b, "%s: %s\n", n, number)
		at = (at + step) % names
	}
	fmt.Fprintf(&b, "\nWhat is the number of %s? Answer with the number alone.", who)
	return b.String(), answer
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sums are the forms of a sum of three numbers, the last of which is taken away.
var sums = []string{
	"How much is %d + %d - %d? Answer with the number alone.",
	"A shop has %d boxes. It gets %d more and sells %d. How many boxes has it now? Answer with the number alone.",
	"A train carries %d people. %d get on and %d get off. How many people are on it now? Answer with the number alone.",
	"A lake holds %d fish. %d are added and %d are caught. How many fish are in it now? Answer with the number alone.",
}

// Sum asks for a sum.
func Sum(d *rand.Rand) (prompt, answer string) {
	a, b := 10+d.IntN(9990), 10+d.IntN(9990)
	c := 1 + d.IntN(a+b-1)
	return fmt.Sprintf(sums[d.IntN(len(sums))], a, b, c), strconv.Itoa(a + b - c)
}

// Copy asks for some words again.
func Copy(d *rand.Rand, words int) (prompt, answer string) {
	all := [][]string{first, second, third}
	out := make([]string, words)
	for i := range out {
		list := all[d.IntN(len(all))]
		out[i] = list[d.IntN(len(list))]
	}
	answer = strings.Join(out, " ")
	return "Repeat the words between the lines, and write nothing else.\n---\n" + answer + "\n---", answer
}

var (
	askedFor = regexp.MustCompile(`What is the number of ([a-z ]{1,60})\? Answer with the number alone\.`)
	repeated = regexp.MustCompile(`Repeat the words between the lines, and write nothing else\.\n---\n([a-z ]*)\n---`)
	summed   = func() (all []*regexp.Regexp) {
		for _, form := range sums {
			all = append(all, regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(form), "%d", `(\d{1,9})`)))
		}
		return all
	}()
)

// Solve answers a prompt of one of the sets, whatever stands around it; ok is false for others.
func Solve(prompt string) (answer string, ok bool) {
	const ends = "alone."
	if strings.Contains(prompt, ends) {
		if m := last(askedFor, prompt); m != nil {
			_, rest, found := strings.Cut(prompt, "\n"+m[1]+": ")
			number, _, _ := strings.Cut(rest, "\n")
			return number, found
		}
		for _, form := range summed {
			if m := last(form, prompt); m != nil {
				return strconv.Itoa(number9(m[1]) + number9(m[2]) - number9(m[3])), true
			}
		}
	}
	if m := last(repeated, prompt); m != nil {
		return m[1], true
	}
	return "", false
}

// number9 is the value of at most nine digits.
func number9(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
