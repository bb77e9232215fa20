package python

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// column is where a default stands behind a flag.
const column = 44

// Help lists options in the order of their names, with their defaults, which their variables
// hold, and what they can be.
func Help(options []Option) string {
	sorted := slices.Clone(options)
	slices.SortStableFunc(sorted, func(a, b Option) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	for _, o := range sorted {
		o.help(&b)
	}
	return b.String()
}

// Flags are the names of options, in alphabetical order.
func Flags(options []Option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.name
	}
	slices.Sort(names)
	return names
}

// help is the line of an option, and below it the values to choose from.
func (o Option) help(b *strings.Builder) {
	value, choices := o.placeholder(), ""
	if braced, rest, ok := strings.Cut(strings.TrimPrefix(o.meta, "{"), "}"); ok && rest == "" {
		choices = braced
		value = strings.ReplaceAll(value, o.meta, "NAME")
	}
	line := strings.TrimRight("  --"+o.name+" "+value, " ")
	if repr := o.initial(); repr != "" {
		line = fmt.Sprintf("%-*s  %s", column, line, repr)
	}
	b.WriteString(line + "\n")
	if choices != "" {
		wrap(b, strings.Split(choices, ","), "        ")
	}
}

// initial is the default as one would type it, empty for flags and None.
func (o Option) initial() string {
	if o.arity == none || o.repr == nil {
		return ""
	}
	if repr := o.repr(); repr != "None" && repr != "''" {
		return strings.Trim(repr, "'")
	}
	return ""
}

// wrap writes words with commas between them, on lines of at most usageWidth columns.
func wrap(b *strings.Builder, words []string, indent string) {
	line := indent + words[0]
	for _, w := range words[1:] {
		line += ","
		if len(line)+1+len(w) > usageWidth {
			b.WriteString(line + "\n")
			line = indent + w
			continue
		}
		line += " " + w
	}
	b.WriteString(line + "\n")
}

// usageWidth is argparse's, on a terminal of 80 columns.
const usageWidth = 78

// Usage is how argparse says which options there are: in the order in which they
// are declared, indented behind the name of the program.
func Usage(program string, options []Option) string {
	head := "usage: " + program + " "
	indent := strings.Repeat(" ", len(head))
	var b strings.Builder
	b.WriteString("usage: " + program)
	column := len(head) - 1
	for _, part := range usageParts(options) {
		if column+1+len(part) > usageWidth && column >= len(indent) {
			b.WriteString("\n" + indent[1:])
			column = len(indent) - 1
		}
		b.WriteString(" " + part)
		column += 1 + len(part)
	}
	b.WriteByte('\n')
	return b.String()
}

// usageParts are what no line break may divide. Of options that bar each other the
// first opens a bracket that the second closes.
func usageParts(options []Option) []string {
	parts := []string{"[-h]"}
	for i, o := range options {
		name, value := "--"+o.name, o.placeholder()
		switch {
		case o.bars != "" && i+1 < len(options) && options[i+1].name == o.bars:
			parts = append(parts, "["+name+" "+value, "|")
		case o.bars != "":
			parts = append(parts, name, value+"]")
		case value == "":
			parts = append(parts, "["+name+"]")
		default:
			parts = append(parts, "["+name+" "+value+"]")
		}
	}
	return parts
}

// placeholder is what stands for the values of an option.
func (o Option) placeholder() string {
	meta := cmp.Or(o.meta, strings.ToUpper(strings.ReplaceAll(o.name, "-", "_")))
	switch o.arity {
	case none:
		return ""
	case anyNumber:
		return "[" + meta + " ...]"
	case atLeastOne:
		return meta + " [" + meta + " ...]"
	}
	return meta
}
