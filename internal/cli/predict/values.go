package predict

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/profile"
)

// mostValues is the largest number of rows.
const mostValues = 64

// sets are what --set gives: fields with one value, and at most one with several.
func sets(given []string) (fixed []profile.Set, several []profile.Set, err error) {
	seen := map[string]bool{}
	for _, text := range given {
		s, err := profile.ParseSet(text)
		if err == nil && seen[s.Field] {
			err = fmt.Errorf("%s is set twice", s.Field)
		}
		if err != nil {
			return nil, nil, err
		}
		seen[s.Field] = true
		values, err := valuesOf(s.Value)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", s, err)
		case len(values) == 1:
			fixed = append(fixed, profile.Set{Field: s.Field, Value: values[0]})
		case several != nil:
			return nil, nil, fmt.Errorf("%s: %s has several values already, and one field can", s, several[0].Field)
		default:
			for _, v := range values {
				several = append(several, profile.Set{Field: s.Field, Value: v})
			}
		}
	}
	return fixed, several, nil
}

// valuesOf are those that a text stands for: 1,2,4 or a range, 1..8 by ones and 1..64x2 by
// factors. Commas in brackets, as in uniform(1,9), separate nothing.
func valuesOf(text string) (values []string, err error) {
	for _, item := range split(text) {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, fmt.Errorf("a value is empty")
		}
		m := span.FindStringSubmatch(item)
		if m == nil {
			values = append(values, item)
			continue
		}
		some, err := between(m[1], m[2], m[3])
		if err != nil {
			return nil, err
		}
		values = append(values, some...)
	}
	if len(values) > mostValues {
		return nil, fmt.Errorf("%d values; at most %d", len(values), mostValues)
	}
	return values, nil
}

// split divides at commas outside of brackets and quotes.
func split(text string) (items []string) {
	depth, from, quote := 0, 0, rune(0)
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth <= 0:
			items, from = append(items, text[from:i]), i+1
		}
	}
	return append(items, text[from:])
}

// span matches 1..8 and 1..64x2.
var span = regexp.MustCompile(`^(\d+)\.\.(\d+)(?:x([0-9.]+))?$`)

// between are the whole numbers of a range.
func between(first, last, factor string) (values []string, err error) {
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	by := 0.0
	var err3 error
	if factor != "" {
		by, err3 = strconv.ParseFloat(factor, 64)
	}
	switch {
	case err1 != nil || err2 != nil || err3 != nil || to > math.MaxInt32:
		return nil, fmt.Errorf("%s..%s is not a range of numbers", first, last)
	case from > to:
		return nil, fmt.Errorf("the range ends before it begins")
	case factor != "" && (by <= 1 || from == 0):
		return nil, fmt.Errorf("a range by factors begins above 0, and its factor is above 1")
	}
	for at := float64(from); at <= float64(to) && len(values) <= mostValues; {
		text := strconv.Itoa(int(math.Round(at)))
		if len(values) == 0 || values[len(values)-1] != text {
			values = append(values, text)
		}
		if factor == "" {
			at++
		} else {
			at *= by
		}
	}
	if len(values) > mostValues {
		return nil, fmt.Errorf("more than %d values", mostValues)
	}
	return values, nil
}
