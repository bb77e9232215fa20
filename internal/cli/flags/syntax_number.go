package flags

import (
	"fmt"
	"reflect"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Numbers has a parser read the numbers of flags as those of plans and files of settings are read.
var Numbers = kong.OptionFunc(func(k *kong.Kong) error {
	for kind, read := range map[reflect.Kind]func(string, reflect.Value) error{
		reflect.Int: readInteger, reflect.Int64: readInteger,
		reflect.Uint32: readUnsigned, reflect.Uint64: readUnsigned,
		reflect.Float64: readNumber,
	} {
		if err := kong.KindMapper(kind, mapper(read)).Apply(k); err != nil {
			return err
		}
	}
	return kong.TypeMapper(reflect.TypeFor[time.Duration](), mapper(readTime)).Apply(k)
})

type mapper func(text string, into reflect.Value) error

func (read mapper) Decode(ctx *kong.DecodeContext, into reflect.Value) error {
	t, err := ctx.Scan.PopValue("number")
	if err != nil {
		return err
	}
	text := fmt.Sprint(t.Value)
	if err := read(text, into); err != nil {
		return fmt.Errorf("%q: %w%s", text, err, taken(ctx.Value, err))
	}
	return nil
}

// taken describes what a flag takes, behind an error that has no hint yet.
func taken(flag *kong.Value, err error) string {
	switch takes := flag.Tag.Get("takes"); {
	case err.Error() != "must be a number" && err.Error() != "must be a whole number":
		return ""
	case takes != "":
		return ": " + takes
	case flag.HasDefault:
		return ", such as " + flag.Default
	}
	return ""
}

func readInteger(text string, into reflect.Value) error {
	v, err := plan.ParseInteger(text)
	into.SetInt(v)
	return err
}

func readUnsigned(text string, into reflect.Value) error {
	v, err := plan.ParseUnsigned(text)
	if err == nil && into.OverflowUint(v) {
		return fmt.Errorf("must be at most %d", uint64(1)<<into.Type().Bits()-1)
	}
	into.SetUint(v)
	return err
}

func readTime(text string, into reflect.Value) error {
	d, err := plan.ParseTime(text)
	into.SetInt(int64(d))
	return err
}

func readNumber(text string, into reflect.Value) error {
	x, err := plan.ParseNumber(text)
	into.SetFloat(x)
	return err
}
