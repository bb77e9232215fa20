package sweep

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
)

// lists are the texts of flags that take lists, by the flag.
type lists map[string]string

// listed are placeholders of texts that are numbers, lengths or times.
var listed = []string{"TOKENS", "TIME", "N", "P", "SHARE", "PROCESS", "STATE"}

// takesList reports whether a flag of bench may be a list here: one of a number, a length or a
// time. The seed is that of the sweep.
func takesList(f *kong.Flag) bool {
	switch f.Target.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		return f.Tag.Get("path") != ""
	case reflect.String:
		return f.Tag.Get("path") != "" && slices.Contains(listed, f.PlaceHolder)
	}
	return false
}

// Lists lets the flags of the command take lists, in a grammar that is built.
func Lists(k *kong.Kong) error {
	node := flags.Command(k.Model.Node, "sweep")
	if node == nil { // a parser of another command
		return nil
	}
	c, ok := node.Target.Addr().Interface().(*Cmd)
	if !ok { // an outline
		return nil
	}
	c.lists = lists{}
	for _, f := range node.Flags {
		if takesList(f) {
			f.Mapper = listMapper{c.lists, f.Name}
			f.Help = strings.ReplaceAll(f.Help, "${default}", f.Default)
			f.HasDefault = false // which the parser would decode after the command line
		}
	}
	return nil
}

// A listMapper keeps the text of a flag; the compiler of bench interprets it.
type listMapper struct {
	lists
	name string
}

func (m listMapper) Decode(ctx *kong.DecodeContext, _ reflect.Value) error {
	var text string
	err := ctx.Scan.PopValueInto("value", &text)
	m.lists[m.name] = text
	return err
}
