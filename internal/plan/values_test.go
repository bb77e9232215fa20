package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for list, want := range map[string]string{
		"3":                          "3",
		"1,2,5":                      "1 2 5",
		"1..64x2":                    "1 2 4 8 16 32 64",
		"1..50x2":                    "1 2 4 8 16 32",
		"1..10+3":                    "1 4 7 10",
		"1..4":                       "1 2 3 4",
		"1..1":                       "1",
		"1,8..10":                    "1 8 9 10",
		"4..9x1.5":                   "4 6 9",
		"0..0.3+0.1":                 "0 0.1 0.2 0.3",
		"0.5,1..3":                   "0.5 1 2 3",
		"1..2x1.1":                   "1 1.1 1.21 1.331 1.4641 1.61051 1.771561 1.9487171",
		"-1..1":                      "-1 0 1",
		"-0.3..-0.1+0.1":             "-0.3 -0.2 -0.1",
		"-0.2..0.1+0.1":              "-0.2 -0.1 0 0.1",
		"2x, 4x":                     "2x 4x",
		"uniform(1,2)":               "uniform(1,2)",
		" 128, 1024 ":                "128 1024",
		`{"a":"x,y"},1`:              `{"a":"x,y"} 1`,
		"[{at: 1, time: 2ms}]":       "[{at: 1, time: 2ms}]",
		`"a,b",'c,d'`:                `"a,b" 'c,d'`,
		`"a\",b",c`:                  `"a\",b" c`,
		"don't,do":                   "don't do",
		"10m..20m":                   "10m..20m",
		"normal(1,2),5":              "normal(1,2) 5",
		"vllm,sglang":                "vllm sglang",
		"a),b":                       "a) b",
		"lognormal(1,0.5),1..3,a..b": "lognormal(1,0.5) 1 2 3 a..b",
	} {
		got, err := ParseValues(list, 64)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %s", list, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for list, why := range map[string]string{
		"":                        "empty value",
		"1,,2":                    "empty value",
		"1,":                      "empty value",
		"5..1":                    "ends below",
		"1..5x1":                  "factor above 1",
		"1..5x0.5":                "factor above 1",
		"0..5x2":                  "begin above 0",
		"-1..5x2":                 "begin above 0",
		"1..5+0":                  "more than 0",
		"1..65":                   "more than 64 values",
		"1..99999":                "more than 64 values",
		"1..60,a,b,c,d,e":         "has 65 values; at most 64",
		"1,2,1":                   "has 1 twice",
		"1..4x2, 2":               "has 2 twice",
		"(1,2":                    "a bracket that is not closed",
		"'a,b":                    "a quote ' that is not closed",
		"1..99999999999999999999": "more than 64",
	} {
		if got, err := ParseValues(list, 64); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q, %v; want %s", list, got, err, why)
		}
	}
}

// Nothing that somebody types breaks a list.
func FuzzParseValues(f *testing.F) {
	for _, text := range []string{"1..8x2", "a,b", "(1,2", "'", "1..2,3x", "-1..1+0.5", `"a\`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseValues(text, 64)
		if err == nil && (len(all) == 0 || len(all) > 64 || slices.Contains(all, "")) {
			t.Errorf("%q: %q", text, all)
		}
	})
}
