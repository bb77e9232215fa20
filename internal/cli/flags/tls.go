package flags

import (
	"crypto/tls"

	"github.com/pitot-bench/pitot/internal/session"
)

// TLS say with which certificate a server speaks TLS.
type TLS struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"PEM certificate; with --tls-key the server speaks TLS."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"PEM key."`
}

// Config is nil for a server without TLS.
func (t TLS) Config() (*tls.Config, error) {
	if t.TLSCert == "" && t.TLSKey == "" {
		return nil, nil
	}
	if t.TLSCert == "" || t.TLSKey == "" {
		return nil, session.Usagef("--tls-cert and --tls-key belong together")
	}
	pair, err := tls.LoadX509KeyPair(t.TLSCert, t.TLSKey)
	if err != nil {
		return nil, session.Usagef("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
