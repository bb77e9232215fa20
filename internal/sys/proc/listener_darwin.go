package proc

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ListenerOn is the process that listens on a TCP port; false if there is none, or it is
// not known.
func ListenerOn(ctx context.Context, port int) (Listener, bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := Ask(ctx, Question{Args: []string{"lsof", "-nP", fmt.Sprintf("-iTCP:%d", port), "-sTCP:LISTEN", "-Fp"}})
	if err != nil {
		return Listener{}, false
	}
	for line := range strings.Lines(out) {
		if pid, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), "p")); err == nil {
			return Listener{pid, commandOf(pid)}, true
		}
	}
	return Listener{}, false
}
