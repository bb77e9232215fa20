package session

import "testing"

// The language of output: of the flag, else of PITOT_LANG, else of the first variable of the locale that is not empty.
func TestLanguage(t *testing.T) {
	for _, tt := range []struct {
		flag  Language
		env   map[string]string
		want  string
		asked bool
	}{
		{"", nil, "en", false},
		{"", map[string]string{"LANG": "zh_CN.UTF-8"}, "zh", true},
		{"", map[string]string{"LANG": "ZH"}, "zh", true},
		{"", map[string]string{"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "de_DE.UTF-8"}, "en", false},
		{"", map[string]string{"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh", true},
		{"", map[string]string{"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8", "LC_ALL": "C"}, "en", false},
		{"", map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh", true},
		{"", map[string]string{"LANG": "POSIX"}, "en", false},
		{"", map[string]string{"LANG": "en_US.UTF-8"}, "en", false},
		{"", map[string]string{"LC_ALL": "zh_CN.UTF-8", "PITOT_LANG": "en"}, "en", true},
		{"", map[string]string{"LC_ALL": "zh_CN.UTF-8", "PITOT_LANG": "fr"}, "en", true},
		{"", map[string]string{"LC_ALL": "C", "PITOT_LANG": "zh-Hans"}, "zh", true},
		{"en", map[string]string{"PITOT_LANG": "zh"}, "en", true},
		{"zh_CN", map[string]string{"LC_ALL": "C"}, "zh", true},
	} {
		s := &Session{Env: func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }}
		s.Speak(tt.flag)
		if got := s.Words().Name; got != tt.want || s.Lang != nil != tt.asked {
			t.Errorf("--lang %q with %v: %s, asked for: %v", tt.flag, tt.env, got, s.Lang != nil)
		}
	}
	for lang, want := range map[Language]bool{"": true, "en": true, "zh": true, "zh_CN.UTF-8": true, "EN": true, "de": false, "z": false} {
		if got := lang.Validate() == nil; got != want {
			t.Errorf("--lang %q is allowed: %v", lang, got)
		}
	}
	if got := new(Session).Word("status.complete"); got != "complete" {
		t.Errorf("a session without a language says %q", got)
	}
}
