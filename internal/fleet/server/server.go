// Package server is a placeholder.
package server

import "errors"

// Options are those of a server.
type Options struct {
	Listen, Dir, Token, CA, Cert, Key string
	NKeys                             []string
	MaxStore                          int64
}

// A Server is one.
type Server struct{}

// Start starts one.
func Start(Options) (*Server, error) { return nil, errors.New("placeholder") }

// URL is where.
func (*Server) URL() string { return "" }

// Close ends it.
func (*Server) Close() {}
