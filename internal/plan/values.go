package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// ParseValues is the values of a list, at most most of them, each once. The end of a range belongs to
// it if it is met.
func ParseValues(list string, most int) (all []string, err error) {
	items, err := split(list)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", list, err)
	}
	for _, item := range items {
		if item == "" {
			return nil, fmt.Errorf("%q: has an empty value", list)
		}
		m := span.FindStringSubmatch(item)
		if m == nil {
			all = append(all, item)
			continue
		}
		numbers, err := series(m[1], m[2], m[3], m[4], most)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		all = append(all, numbers...)
	}
	if len(all) > most {
		return nil, fmt.Errorf("%q: has %d values; at most %d are possible", list, len(all), most)
	}
	for i, v := range all {
		if slices.Contains(all[:i], v) {
			return nil, fmt.Errorf("%q: has %s twice", list, v)
		}
	}
	return all, nil
}

const number = `(-?[0-9]+(?:\.[0-9]+)?)`

// span matches FROM..TO, FROM..TOxFACTOR and FROM..TO+STEP.
var span = lazy.Regexp(`^` + number + `\.\.` + number + `(?:([x+])` + number + `)?$`)

// series are the numbers of a span; by is x, + or nothing, which stands for +1.
func series(first, last, by, step string, most int) (all []string, err error) {
	from, to, change := parse(first), parse(last), 1.0
	if by != "" {
		change = parse(step)
	}
	switch {
	case to < from:
		return nil, errors.New("ends below where it begins")
	case by == "x" && (change <= 1 || from <= 0):
		return nil, errors.New("must begin above 0 and grow by a factor above 1")
	case by != "x" && change <= 0:
		return nil, errors.New("must grow by more than 0")
	}
	end := to + rounding*math.Abs(to)
	for n := 0; ; n++ {
		v := from + float64(n)*change
		if by == "x" {
			v = from * math.Pow(change, float64(n))
		}
		if v > end {
			return all, nil
		}
		if n == most {
			return nil, fmt.Errorf("has more than %d values", most)
		}
		all = append(all, shortest(v))
	}
}

// rounding is by how much a value may miss the end that it meets, relatively.
const rounding = 1e-9

// parse reads the text that span has matched.
func parse(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// shortest is v without the digits that arithmetic adds.
func shortest(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if v == 0 {
		v = 0 // and not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// split divides at commas outside of brackets and quotes. A quote within a word, as in don't,
// begins nothing; a backslash in quotes takes the next character as it is.
func split(list string) (items []string, err error) {
	depth, from := 0, 0
	quote, before, escaped := rune(0), ' ', false
	for i, r := range list {
		switch {
		case escaped:
			escaped = false
		case quote != 0 && r == '\\':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case (r == '"' || r == '\'') && !unicode.IsLetter(before) && !unicode.IsDigit(before):
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth = max(0, depth-1)
		case r == ',' && depth == 0:
			items, from = append(items, strings.TrimSpace(list[from:i])), i+1
		}
		before = r
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("has a quote %c that is not closed", quote)
	case depth > 0:
		return nil, errors.New("has a bracket that is not closed")
	}
	return append(items, strings.TrimSpace(list[from:])), nil
}
