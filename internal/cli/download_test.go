package cli

import (
	"strings"
	"testing"
)

// A command line that may download leaves nothing behind for the next in the same
// process.
func TestDownloadsAreAllowedToOneCommandLine(t *testing.T) {
	env := map[string]string{"HF_ENDPOINT": "http://127.0.0.1:1", "HOME": t.TempDir()}
	sess, _, stderr := process(t, env)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"sim -n 1 --tokenizer org/name", exitUsage, "; set PITOT_HF_DOWNLOAD=1 to download it, or use --hf-download\n"},
		{"sim -n 1 --tokenizer org/name --hf-download", exitFailed, "connection refused"},
		{"sim -n 1 --tokenizer org/name", exitUsage, "; set PITOT_HF_DOWNLOAD=1 to download it, or use --hf-download\n"},
	} {
		stderr.Reset()
		sess.Args = strings.Fields(c.args)
		if code := Run(sess); code != c.code || !strings.HasSuffix(stderr.String(), c.want) && !strings.Contains(stderr.String(), c.want+"\n") {
			t.Errorf("%s: exit code %d: %s", c.args, code, stderr)
		}
	}
}
