package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/plan"
)

// The most bytes of a message that is decoded. A question may hold a Spec.
const (
	largestAnswer   = 1 << 20
	largestQuestion = 8 << 20
)

// Answer replies to the questions on a subject: with the result of reply, as JSON, or with its error, which the
// asker gets as a Refusal. One question of a subject is answered at a time, those of different subjects at once.
// Once end has returned, reply is not running and is not called again; reply itself must not call it.
func Answer[Q any](b *Bus, subject string, reply func(Q) (any, error)) (end func(), err error) {
	return b.serve(subject, func(data []byte) (any, error) {
		var question Q
		if err := decode(data, largestQuestion, &question); err != nil {
			return nil, fmt.Errorf("the question is not valid: %w", err)
		}
		return reply(question)
	})
}

func (b *Bus) serve(subject string, answer func(data []byte) (any, error)) (end func(), err error) {
	if err := checkSubject(subject); err != nil {
		return nil, err
	}
	var handling sync.Mutex
	over := false
	sub, err := b.conn.Subscribe(subject, func(m *nats.Msg) {
		handling.Lock()
		defer handling.Unlock()
		if over || !b.begin() {
			return
		}
		defer b.running.Done()
		b.respond(m, answer)
	})
	if err != nil {
		return nil, b.failed(subject, err)
	}
	end = func() {
		_ = sub.Unsubscribe() // it fails if the connection is closed
		_ = settle(b.conn)
		handling.Lock()
		defer handling.Unlock()
		over = true
	}
	if err := b.confirm(subject); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// begin counts a handler, unless the Bus is closed.
func (b *Bus) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.running.Add(1)
	}
	return !b.closed
}

// confirm waits until the server has a subscription, so that whoever asks from now on is heard.
func (b *Bus) confirm(subject string) error {
	if err := settle(b.conn); err != nil {
		return b.failed(subject, err)
	}
	if err := b.conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+subject+`"`) {
		return fmt.Errorf("%s: %w", subject, b.permission(err))
	}
	return nil
}

// settle waits until the server has all that was sent. Subscriptions that change while the connection
// is down are sent with the next.
func settle(conn *nats.Conn) error {
	if !conn.IsConnected() {
		return nil
	}
	err := conn.FlushTimeout(connectTimeout)
	if err != nil && !conn.IsConnected() && !conn.IsClosed() {
		return nil
	}
	return err
}

func (b *Bus) respond(m *nats.Msg, answer func(data []byte) (any, error)) {
	value, err := answer(m.Data)
	if m.Reply == "" {
		return
	}
	out := nats.NewMsg(m.Reply)
	if err == nil {
		out.Data, err = json.Marshal(value)
	}
	if err == nil && len(out.Data) > largestAnswer {
		err = fmt.Errorf("the reply has %d bytes, more than %d", len(out.Data), largestAnswer)
	}
	if err != nil {
		out.Header.Set(errorHeader, "1")
		out.Data = []byte(b.clean(err))
	}
	if err := b.conn.PublishMsg(out); err != nil && !b.conn.IsClosed() {
		b.report(b.failed(m.Subject, err).Error())
	}
}

// decode reads JSON of at most most bytes. Only messages by which versions recognize each other may
// have fields that are not known.
func decode(data []byte, most int, into any) error {
	if len(data) > most {
		return fmt.Errorf("%d bytes, more than %d", len(data), most)
	}
	if err := plan.Check(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	switch into.(type) {
	case *fleet.Question, *fleet.Worker:
	default:
		d.DisallowUnknownFields()
	}
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more than one value")
	}
	return nil
}
