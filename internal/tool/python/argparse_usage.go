package python

import "strings"

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
	meta := o.meta
	if meta == "" {
		meta = strings.ToUpper(strings.ReplaceAll(o.name, "-", "_"))
	}
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
