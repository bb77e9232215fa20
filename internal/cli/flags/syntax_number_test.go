package flags

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

// numbers are settings of every kind of number.
type numbers struct {
	Whole    int     `json:"whole"`
	Long     int64   `json:"long"`
	Seed     uint32  `json:"seed"`
	LongSeed uint64  `json:"long_seed"`
	Number   float64 `json:"number"`
}

// forms are numbers, and texts that are nearly some, as people write them.
func forms() (all []string) {
	for _, sign := range []string{"", "+", "-", "+-"} {
		for _, digits := range []string{
			"0", "7", "10", "1_000", "1__0", "1_", "010", "0_10", "00", "08", "0.5", ".5", "5.", ".", "1.5.2", "4294967296", "9223372036854775808",
			"18446744073709551616", "0x10", "0X1f", "0x", "0x_1", "0b11", "0b2", "0o17", "0x1p4", "inf", "Inf", "infinity", ".inf", ".Inf", "nan", ".nan", "x", "1 0", "1,5",
		} {
			for _, exponent := range []string{"", "e1", "E+2", "e-3", "e", "e400"} {
				all = append(all, sign+digits+exponent)
			}
		}
	}
	return all
}

// A number is read alike on a command line, in a file, and among settings that a file only passes on.
func TestNumbersAreReadAlike(t *testing.T) {
	read := 0
	for _, setting := range []string{"whole", "long", "seed", "long_seed", "number"} {
		for _, text := range forms() {
			flag, errFlag := byFlag(setting, text)
			file, errFile := byFile(setting, text)
			passed, errPassed := passedOn(setting, text)
			if (errFlag == nil) != (errFile == nil) || errFlag == nil && flag != file {
				t.Errorf("%s %s: the flag is %v (%v), the file %v (%v)", setting, text, flag, errFlag, file, errFile)
			}
			if (errPassed == nil) != (errFile == nil) || errFile == nil && passed != file {
				t.Errorf("%s %s: in a file %v (%v), passed on %v (%v)", setting, text, file, errFile, passed, errPassed)
			}
			if errFlag == nil {
				read++
			}
		}
	}
	if read < 300 {
		t.Errorf("only %d were read", read)
	}
}

func byFlag(setting, text string) (n numbers, err error) {
	parser, err := kong.New(&n, Numbers, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return n, err
	}
	name := map[string]string{"long_seed": "long-seed"}[setting]
	if name == "" {
		name = setting
	}
	_, err = parser.Parse([]string{"--" + name + "=" + text})
	if err == nil && (n.Number > 1e300 || n.Number < -1e300) {
		return numbers{}, fmt.Errorf("%v is infinite", n.Number) // what takes it says so itself
	}
	return n, err
}

func byFile(setting, text string) (n numbers, err error) {
	doc, err := plan.Parse("f.yaml", []byte(setting+": "+text+"\n"))
	if err == nil {
		err = doc.Explain(plan.Decode(doc.Root, &n))
	}
	if err != nil {
		return numbers{}, err
	}
	return n, nil
}

func passedOn(setting, text string) (n numbers, err error) {
	var outer struct {
		Settings json.RawMessage `json:"settings"`
	}
	doc, err := plan.Parse("f.yaml", []byte("settings: {"+setting+": "+text+"}\n"))
	if err == nil {
		err = doc.Explain(plan.Decode(doc.Root, &outer))
	}
	if err == nil {
		err = plan.DecodeJSON(outer.Settings, &n).Err()
	}
	if err != nil {
		return numbers{}, err
	}
	return n, nil
}

func TestWhatIsNoNumber(t *testing.T) {
	for text, want := range map[string]string{
		"x":   `--number: "x": must be a number`,
		"010": `--number: "010": must be a number that does not begin with 0`,
	} {
		_, err := byFlag("number", text)
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Error(diff)
		}
	}
}
