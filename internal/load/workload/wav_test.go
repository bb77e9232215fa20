package workload

import "testing"

func TestWAVSeconds(t *testing.T) {
	for _, data := range []string{
		"", "RIFF", "RIFF\x00\x00\x00\x00WAVE", "RIFF\x00\x00\x00\x00WAVEdata\xff\xff\xff\xff",
		"RIFF\x00\x00\x00\x00WAVEfmt \xff\xff\xff\xff1234567812345678", "ID3",
	} {
		if s := WAVSeconds([]byte(data)); s != 0 {
			t.Errorf("%q lasts %v s", data, s)
		}
	}
}
