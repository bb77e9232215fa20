// Package server is a placeholder.
package server

// Handle finds a server.
type Handle struct{ PID int }

// Life is kept.
type Life struct{ Exit string }
