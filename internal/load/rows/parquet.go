package rows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// openParquet reads the rows of a Parquet file. Lists, structs and maps become
// []any and map[string]any.
func openParquet(r io.ReaderAt, size int64) (*Table, error) {
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("read the footer of a Parquet file: %w", err)
	}
	t := &Table{}
	root := newBranch(f.Schema(), "", place{})
	for _, b := range root.children {
		t.columns = append(t.columns, b.name)
	}
	t.all = func(yield func(Row, error) bool) {
		number := 0
		for _, group := range f.RowGroups() {
			if group.NumRows() > 0 && !parquetRows(group, root, &number, yield) {
				return
			}
		}
	}
	return t, nil
}

// checkFooter checks the size of the footer at the end of the file, which the
// library would trust.
func checkFooter(r io.ReaderAt, size int64) error {
	const head, tail = 4, 8 // PAR1, and the footer's size with PAR1
	var end [tail]byte
	if size < head+tail {
		return errors.New("not a Parquet file: too short")
	}
	if _, err := r.ReadAt(end[:], size-tail); err != nil {
		return fmt.Errorf("read the end of a Parquet file: %w", err)
	}
	if string(end[4:]) != "PAR1" || int64(binary.LittleEndian.Uint32(end[:4])) > size-head-tail {
		return errors.New("not a Parquet file, or truncated: its end is missing")
	}
	return nil
}

// rowsAtOnce is the number of rows read from the library at a time.
const rowsAtOnce = 16

// parquetRows yields the rows of a group until the caller has enough.
func parquetRows(group parquet.RowGroup, root *branch, number *int, yield func(Row, error) bool) bool {
	from := group.Rows()
	defer from.Close()
	buf := make([]parquet.Row, rowsAtOnce)
	for {
		n, err := readRows(from, buf)
		for _, values := range buf[:n] {
			*number++
			if !yield(root.row(*number, values)) {
				return false
			}
		}
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			yield(Row{Number: *number + 1}, fmt.Errorf("row %d: %w", *number+1, err))
			return false
		}
	}
}

var errBroken = errors.New("the file is damaged")

// readRows is ReadRows without its failures on a damaged file: panicking, or
// returning nothing forever.
func readRows(from parquet.Rows, buf []parquet.Row) (n int, err error) {
	defer func() {
		if recover() != nil {
			n, err = 0, errBroken
		}
	}()
	n, err = from.ReadRows(buf)
	if n == 0 && err == nil {
		return 0, errBroken
	}
	return n, err
}

// row assembles a row from its values, which are ordered by column.
func (b *branch) row(number int, values parquet.Row) (row Row, err error) {
	row = Row{Number: number, values: make([]any, 0, len(b.children))}
	defer func() {
		if recover() != nil { // the levels of a damaged file can have any value
			err = fmt.Errorf("row %d: %w", number, errBroken)
		}
	}()
	columns := make([][]parquet.Value, b.columns)
	values.Range(func(column int, of []parquet.Value) bool {
		columns[column] = of
		return true
	})
	for _, c := range b.children {
		row.names = append(row.names, c.name)
		row.values = append(row.values, c.value(columns[c.first:c.first+c.columns]))
	}
	return row, nil
}

// A branch is a node of the schema with the information to reassemble values from
// their levels, as in Dremel (Melnik and others, 2010): a value exists if its
// definition level reaches that of the branch, and an element of a list begins
// where the repetition level is that of the branch.
type branch struct {
	name       string
	shape      shape
	first      int // index of its first column
	columns    int // how many
	repeated   bool
	definition int
	repetition int
	children   []*branch
	scalar     func(parquet.Value) any
}

type shape int

const (
	leaf shape = iota
	object
	list       // a group around a repeated group around the elements
	dictionary // a group around repeated keys and values
)

// A place is the inherited state of a branch: the next column, and levels.
type place struct{ column, definition, repetition int }

func newBranch(node parquet.Node, name string, at place) *branch {
	if node.Optional() || node.Repeated() {
		at.definition++
	}
	if node.Repeated() {
		at.repetition++
	}
	b := &branch{
		name: name, first: at.column, repeated: node.Repeated(), definition: at.definition, repetition: at.repetition,
	}
	if node.Leaf() {
		b.columns, b.scalar = 1, scalar(node.Type())
		return b
	}
	b.shape = object
	for _, field := range node.Fields() {
		c := newBranch(field, field.Name(), at)
		at.column += c.columns
		b.columns += c.columns
		b.children = append(b.children, c)
	}
	b.shape = groupShape(node, b)
	return b
}

// groupShape distinguishes lists, maps and structs, by the current and older rules
// of the format.
func groupShape(node parquet.Node, b *branch) shape {
	if len(b.children) != 1 || !b.children[0].repeated {
		return object
	}
	logical := node.Type().LogicalType()
	if logical == nil {
		return object
	}
	switch logical.Value.(type) {
	case *format.ListType:
		return list
	case *format.MapType:
		if len(b.children[0].children) == 2 {
			return dictionary
		}
	}
	return object
}

// value assembles the value of b from its columns. Positions are those of the first
// column, since all columns have the same above the branch.
func (b *branch) value(columns [][]parquet.Value) any {
	if !b.repeated {
		return b.element(columns)
	}
	if columns[0][0].DefinitionLevel() < b.definition {
		return []any{}
	}
	var out []any
	for _, part := range b.split(columns) {
		out = append(out, b.element(part))
	}
	return out
}

// split cuts columns at the elements of b.
func (b *branch) split(columns [][]parquet.Value) [][][]parquet.Value {
	var parts [][][]parquet.Value
	for c, values := range columns {
		begin, part := 0, 0
		for i := 1; i <= len(values); i++ {
			if i < len(values) && values[i].RepetitionLevel() > b.repetition {
				continue
			}
			if c == 0 {
				parts = append(parts, make([][]parquet.Value, len(columns)))
			}
			parts[part][c] = values[begin:i]
			begin, part = i, part+1
		}
	}
	return parts
}

// element is one value of b, without its repetition.
func (b *branch) element(columns [][]parquet.Value) any {
	if columns[0][0].DefinitionLevel() < b.definition {
		return nil
	}
	switch b.shape {
	case leaf:
		return b.scalar(columns[0][0])
	case list:
		return b.list(columns)
	case dictionary:
		return b.dictionary(columns)
	}
	m := make(map[string]any, len(b.children))
	for _, c := range b.children {
		m[c.name] = b.child(c, columns)
	}
	return m
}

func (b *branch) child(c *branch, columns [][]parquet.Value) any {
	from := c.first - b.first
	return c.value(columns[from : from+c.columns])
}

// list unwraps the elements from the single-field groups of the format.
func (b *branch) list(columns [][]parquet.Value) any {
	inner := b.children[0]
	elements, _ := b.child(inner, columns).([]any)
	if len(inner.children) != 1 || inner.name == "array" || inner.name == b.name+"_tuple" {
		return elements
	}
	only := inner.children[0].name
	for i, e := range elements {
		if m, ok := e.(map[string]any); ok {
			elements[i] = m[only]
		}
	}
	return elements
}

func (b *branch) dictionary(columns [][]parquet.Value) any {
	pair := b.children[0]
	m := map[string]any{}
	entries, _ := b.child(pair, columns).([]any)
	for _, e := range entries {
		entry := e.(map[string]any)
		m[fmt.Sprint(entry[pair.children[0].name])] = entry[pair.children[1].name]
	}
	return m
}

// scalar returns the conversion of a column's values to Go's.
func scalar(t parquet.Type) func(parquet.Value) any {
	if logical := t.LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *format.StringType, *format.EnumType, *format.JsonType:
			return func(v parquet.Value) any { return string(v.ByteArray()) }
		case *format.TimestampType:
			return func(v parquet.Value) any { return instant(v.Int64(), l) }
		case *format.DateType:
			return func(v parquet.Value) any { return time.Unix(int64(v.Int32())*86400, 0).UTC() }
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) any { return v.Boolean() }
	case parquet.Int32:
		return func(v parquet.Value) any { return int64(v.Int32()) }
	case parquet.Int64:
		return func(v parquet.Value) any { return v.Int64() }
	case parquet.Float:
		return func(v parquet.Value) any { return float64(v.Float()) }
	case parquet.Double:
		return func(v parquet.Value) any { return v.Double() }
	case parquet.Int96:
		return func(v parquet.Value) any { return v.Int96().String() }
	}
	return func(v parquet.Value) any { return append([]byte{}, v.ByteArray()...) }
}

func instant(n int64, l *format.TimestampType) time.Time {
	switch l.Unit.Value.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(n).UTC()
	case *format.MicroSeconds:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}
