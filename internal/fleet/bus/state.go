package bus

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Up reports whether there is a connection, and since when it has been so.
func (b *Bus) Up() (up bool, since time.Time) {
	b.set(b.conn.IsConnected())
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up, b.since
}

// set notes a state.
func (b *Bus) set(up bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if up == b.up && !b.since.IsZero() {
		return
	}
	b.up, b.since = up, time.Now()
	b.wake()
}

// wake has those look again who wait for a connection. b.mu is held.
func (b *Bus) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// change is closed once Up may be different.
func (b *Bus) change() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

func (b *Bus) lost(_ *nats.Conn, err error) {
	b.set(false)
	line := fmt.Sprintf("the connection to %s is lost", b.address)
	if err != nil {
		line += ": " + b.clean(err)
	}
	b.report(line + "; reconnecting")
}

func (b *Bus) back(conn *nats.Conn) {
	b.set(conn.IsConnected())
	if settle(conn) == nil && conn.IsConnected() { // the server has the subscriptions
		b.report(fmt.Sprintf("connected to %s again", b.address))
	}
}

// trouble receives the errors that nats.go reports outside of calls.
func (b *Bus) trouble(_ *nats.Conn, sub *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		b.deny(err)
		return
	}
	line := fmt.Sprintf("%s: %s", b.address, b.clean(err))
	if sub != nil {
		line = fmt.Sprintf("%s, %s: %s", b.address, short(sub.Subject), b.clean(err))
	}
	b.report(line)
}

// report says a line, but not twice in a row: a server that refuses credentials does so with every
// attempt to reconnect.
func (b *Bus) report(line string) {
	b.mu.Lock()
	again := line == b.last
	b.last = line
	b.mu.Unlock()
	if !again {
		b.log(line)
	}
}

// A wait is a question that a missing permission ends.
type wait struct {
	subject string
	denied  func(error)
}

// deny ends the questions that the server did not let through: it reports them outside of their replies.
func (b *Bus) deny(err error) {
	text := err.Error()
	_, ours, isReply := strings.Cut(text, `"`+nats.InboxPrefix)
	isReply = isReply && strings.Contains(strings.ToLower(text), "subscription") && ours != ""
	denied := b.permission(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.waiting {
		if isReply || strings.Contains(text, `"`+w.subject+`"`) {
			w.denied(denied)
		}
	}
}

// permission is the error for an operation that the server does not allow.
func (b *Bus) permission(err error) error {
	text := strings.TrimPrefix(b.clean(err), "permissions violation: ")
	return fmt.Errorf("%s; allow pitot.>, _INBOX.> and $JS.> in the settings of the server", text)
}

// watch has denied called if the server refuses a question, until it is ended.
func (b *Bus) watch(subject string, denied func(error)) (end func()) {
	w := &wait{subject, denied}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[w] = true
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.waiting, w)
	}
}
