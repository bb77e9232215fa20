package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// errorHeader marks a reply that is the text of an error.
const errorHeader = "Pitot-Error"

// Request sends a question to a subject and returns its reply. While the connection is down it waits.
// The error is ErrGone if no worker listens on the subject, ErrSilent if there was no reply before the
// deadline of ctx, a Refusal if the reply is an error.
func Request[A any](ctx context.Context, b *Bus, subject string, question any) (A, error) {
	var answer A
	data, err := b.encode(subject, question)
	if err != nil {
		return answer, err
	}
	reply, err := b.request(ctx, subject, data)
	if err != nil {
		return answer, err
	}
	err = read(subject, reply, &answer)
	return answer, err
}

func (b *Bus) request(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	if err := b.awaitUp(ctx, subject); err != nil {
		return nil, err
	}
	asking, deny := context.WithCancelCause(ctx)
	defer deny(nil)
	defer b.watch(subject, deny)()
	reply, err := b.conn.RequestWithContext(asking, subject, data)
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(err, nats.ErrNoResponders):
		return nil, fmt.Errorf("%s: %w", subject, ErrGone)
	case asking.Err() != nil:
		return nil, ended(asking, subject)
	}
	return nil, b.failed(subject, err)
}

// awaitUp waits for the connection. A question that is sent later than its asker waits would still
// be acted on.
func (b *Bus) awaitUp(ctx context.Context, subject string) error {
	for {
		change := b.change()
		if b.conn.IsConnected() {
			return nil
		}
		if b.conn.IsClosed() {
			return b.failed(subject, nats.ErrConnectionClosed)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: no connection to %s", ended(ctx, subject), b.address)
		case <-change:
		}
	}
}

// ended is the error for a context that ended first.
func ended(ctx context.Context, subject string) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, errOver) {
		return silentError{subject}
	}
	return fmt.Errorf("%s: %w", subject, cause)
}

// A silentError is ErrSilent and context.DeadlineExceeded, about a subject.
type silentError struct{ subject string }

func (s silentError) Error() string { return s.subject + ": " + ErrSilent.Error() }

func (s silentError) Unwrap() []error { return []error{ErrSilent, context.DeadlineExceeded} }

// failed is the error of a call of nats.go.
func (b *Bus) failed(subject string, err error) error {
	return fmt.Errorf("%s: %s", subject, b.clean(err))
}

// RequestAll sends a question to a subject and passes each reply to each, until it has enough or wait is over, which is
// no error. Errors and replies that cannot be decoded are reported and left out. The error is ErrGone if no worker
// listens on the subject.
func RequestAll[A any](ctx context.Context, b *Bus, subject string, question any, wait time.Duration, each func(A) (enough bool)) error {
	data, err := b.encode(subject, question)
	if err != nil {
		return err
	}
	return b.collect(ctx, subject, data, wait, func(reply *nats.Msg) (enough bool) {
		var answer A
		if err := read(subject, reply, &answer); err != nil {
			b.report(err.Error())
			return false
		}
		return each(answer)
	})
}

func (b *Bus) collect(ctx context.Context, subject string, data []byte, wait time.Duration, each func(*nats.Msg) (enough bool)) error {
	over, cancel := context.WithTimeoutCause(ctx, wait, errOver)
	defer cancel()
	if err := b.awaitUp(over, subject); err != nil {
		return err
	}
	asking, deny := context.WithCancelCause(over)
	defer deny(nil)
	inbox := b.conn.NewInbox()
	defer b.watch(subject, deny)()
	defer b.watch(inbox, deny)()
	replies, err := b.conn.SubscribeSync(inbox)
	if err != nil {
		return b.failed(subject, err)
	}
	defer func() { _ = replies.Unsubscribe() }()
	if err := b.conn.PublishRequest(subject, inbox, data); err != nil {
		return b.failed(subject, err)
	}
	for {
		reply, err := replies.NextMsgWithContext(asking)
		switch {
		case err == nil && isNoResponders(reply), errors.Is(err, nats.ErrNoResponders):
			return fmt.Errorf("%s: %w", subject, ErrGone)
		case err == nil:
			if each(reply) {
				return nil
			}
		case asking.Err() != nil && errors.Is(context.Cause(asking), errOver):
			return nil
		case asking.Err() != nil:
			return ended(asking, subject)
		default:
			return b.failed(subject, err)
		}
	}
}

var errOver = errors.New("the wait is over")

func isNoResponders(reply *nats.Msg) bool {
	return len(reply.Data) == 0 && reply.Header.Get("Status") == "503"
}

func (b *Bus) encode(subject string, question any) ([]byte, error) {
	if err := checkSubject(subject); err != nil {
		return nil, err
	}
	data, err := json.Marshal(question)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", subject, err)
	}
	if most := b.conn.MaxPayload(); most > 0 && int64(len(data)) > most {
		return nil, fmt.Errorf("%s: the message has %d bytes and the NATS server takes %d; raise max_payload in its settings", subject, len(data), most)
	}
	return data, nil
}

func read(subject string, reply *nats.Msg, into any) error {
	if reply.Header.Get(errorHeader) != "" {
		return Refusal{short(string(reply.Data))}
	}
	if err := decode(reply.Data, largestAnswer, into); err != nil {
		return fmt.Errorf("%s: the reply is not valid: %s", subject, short(err.Error()))
	}
	return nil
}
