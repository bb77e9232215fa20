// Package delivery is a placeholder.
package delivery

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
)

// Runs are those there.
func Runs(context.Context, jetstream.JetStream) ([]string, error) { return nil, nil }

// A Receiver receives.
type Receiver struct{}

// Receive receives.
func Receive(context.Context, jetstream.JetStream, string) (*Receiver, error) { return nil, nil }

// Heading is the first.
func (*Receiver) Heading() fleet.Heading { return fleet.Heading{} }
