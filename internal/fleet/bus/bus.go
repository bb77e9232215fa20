// Package bus is a placeholder.
package bus

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Options are those of a connection.
type Options struct {
	URL, Token, Creds, NKey, CA, Cert, Key, Name string
	Dial                                         func(ctx context.Context, network, address string) (net.Conn, error)
	Say                                          func(string)
}

// A Bus is a connection.
type Bus struct{}

// Connect connects.
func Connect(context.Context, Options) (*Bus, error) { return nil, errors.New("placeholder") }

// Close closes.
func (*Bus) Close() {}

// Up tells.
func (*Bus) Up() (bool, time.Time) { return false, time.Time{} }

// Stream is JetStream.
func (*Bus) Stream() jetstream.JetStream { return nil }
