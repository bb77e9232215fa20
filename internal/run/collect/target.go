package collect

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// A Target is the server that is measured, and how to reach it.
type Target struct {
	URL      string      // without a route
	Header   http.Header // of questions to it, the key among them
	TLS      *tls.Config
	Dial     func(ctx context.Context, network, address string) (net.Conn, error) // nil: net's
	Proxy    func(*url.URL) (*url.URL, error)                                     // nil: none
	HTTP2    bool
	Secrets  *secret.Set // hidden in messages about sources
	Embedded bool        // it is the engine of this process
	// Live means that values are shown and not kept: none waits until the clock of its source is known well.
	Live bool
}
