package ui

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// After the command has left, the page stays while it is looked at, but not for ever.
func TestThePageStaysWhileItIsLookedAt(t *testing.T) {
	for name, tt := range map[string]struct {
		asks []time.Duration // how long each request takes that begins when the command leaves
		want time.Duration
	}{
		"by nobody":      {nil, 0},
		"for a moment":   {[]time.Duration{0}, lookedAt},
		"for a minute":   {[]time.Duration{time.Minute, time.Second}, time.Minute + lookedAt},
		"for ever":       {[]time.Duration{24 * time.Hour}, longest},
		"by two for two": {[]time.Duration{time.Minute, 2 * time.Minute}, 2*time.Minute + lookedAt},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, left, over := &audience{}, make(chan struct{}), make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			h := a.of(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				took, err := time.ParseDuration(r.URL.Query().Get("takes"))
				if err != nil {
					t.Error(err)
				}
				select {
				case <-time.After(took):
				case <-ctx.Done():
				}
			}))
			for _, takes := range tt.asks {
				go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/?takes="+takes.String(), nil))
			}
			go func() {
				a.outlast(ctx, left)
				close(over)
			}()
			synctest.Wait()
			start := time.Now()
			close(left)
			<-over
			if took := time.Since(start); took < tt.want || took > tt.want+2*time.Second {
				t.Errorf("%s: %v, want %v", name, took, tt.want)
			}
			cancel()
		})
	}
}
