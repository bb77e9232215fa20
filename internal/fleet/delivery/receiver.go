package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
)

const (
	// A Receiver has asked for at most so many messages and bytes that it has not handled.
	fetchMessages = 1000
	fetchBytes    = 8 << 20
	// heartbeat is how often the server says that it has nothing. Without a word for twice as long
	// the Receiver starts anew where it is.
	heartbeat = time.Second
	// maxHeading is the most messages of a heading: one has the description of every worker.
	maxHeading = 64
	// inactive is how long the server remembers a Receiver that does not ask.
	inactive = 30 * time.Second
)

// A Receiver hands over the records of a run, in the order in which each share sent them.
type Receiver struct {
	js      jetstream.JetStream
	run     string
	stream  string
	workers []fleet.Worker // by share

	// Used by Run.
	shares []share
	next   uint64 // sequence in the stream of the message to be handled

	mu      sync.Mutex
	handled uint64 // sequence in the stream
	waiters []waiter
}

// A waiter waits until the message of a sequence is handled.
type waiter struct {
	sequence uint64
	done     chan struct{}
}

// NewReceiver returns a Receiver of the run that a heading begins.
func NewReceiver(js jetstream.JetStream, h fleet.Heading) *Receiver {
	r := &Receiver{js: js, run: h.Fleet, stream: streamPrefix + h.Fleet, workers: h.Workers, next: 1, shares: make([]share, len(h.Workers))}
	for i := range r.shares {
		r.shares[i].number = i
	}
	return r
}

// HeadingOf reads the heading of a run. The error wraps ErrGone if the run has no stream.
func HeadingOf(ctx context.Context, js jetstream.JetStream, run string) (h fleet.Heading, err error) {
	name, err := streamOf(run)
	if err != nil {
		return h, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	err = persist(ctx, func(ctx context.Context) error {
		text, err := readHeading(ctx, js, name)
		if err == nil {
			err = json.Unmarshal(text, &h)
		}
		return err
	})
	if err != nil {
		return h, fmt.Errorf("read the heading of run %s: %w", run, explain(err))
	}
	return h, nil
}

// readHeading puts the first messages of a stream together.
func readHeading(ctx context.Context, js jetstream.JetStream, name string) (text []byte, err error) {
	s, err := js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	for sequence, total := 1, 1; sequence <= total; sequence++ {
		m, err := s.GetMsg(ctx, uint64(sequence))
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(m.Subject, "."+headingToken) {
			return nil, fmt.Errorf("message %d of stream %s is not of the heading", sequence, name)
		}
		if total, err = strconv.Atoi(m.Header.Get(totalHeader)); err != nil || total > maxHeading {
			return nil, fmt.Errorf("message %d of stream %s: the heading has %.40q messages", sequence, name, m.Header.Get(totalHeader))
		}
		text = append(text, m.Data...)
	}
	return text, nil
}

// persist repeats a request until it succeeds, ctx is done, or another attempt cannot help.
func persist(ctx context.Context, try func(context.Context) error) error {
	missing := 0
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		once, cancel := context.WithTimeout(ctx, request)
		err := try(once)
		cancel()
		if errors.Is(err, nats.ErrNoResponders) {
			missing++
		}
		if err == nil || missing > missingAnswers || !passing(err) {
			return err
		}
		if !pause(ctx, wait) {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// passing reports whether an error is one of those that come while a server starts, stops or does not
// answer.
func passing(err error) bool {
	for _, known := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded,
		jetstream.ErrNoStreamResponse, jetstream.ErrNoHeartbeat,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	var api jetstream.JetStreamError
	return errors.As(err, &api) && api.APIError() != nil && api.APIError().Code >= 500 &&
		!errors.Is(err, jetstream.ErrJetStreamNotEnabled) && !errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}

// pause waits; false if ctx was done before.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Run hands over present and coming messages of the stream, until ctx is done; then it returns nil, and another Run
// goes on from there. It goes through restarts of the server. The error wraps ErrGone once the stream does not
// exist any more.
func (r *Receiver) Run(ctx context.Context, h Handler) error {
	missing := 0
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		before := r.next
		err := r.consume(ctx, h)
		switch {
		case ctx.Err() != nil:
			return nil
		case r.js.Conn().IsClosed():
			return fmt.Errorf("receive records of run %s: %w", r.run, nats.ErrConnectionClosed)
		case !errors.Is(err, jetstream.ErrStreamNotFound):
			missing = 0
		default:
			if missing++; missing >= missingAnswers {
				return fmt.Errorf("receive records of run %s: %w", r.run, ErrGone)
			}
		}
		if r.next > before {
			wait = firstRetry
		}
		pause(ctx, wait)
	}
}

// consume hands over messages until the server or the connection fails. The server does not repeat messages that
// were lost with a connection, so each consumer is for one connection only.
func (r *Receiver) consume(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupted := r.js.Conn().StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer r.js.Conn().RemoveStatusListener(interrupted)
	go func() { // ends with the listener
		<-interrupted
		cancel()
	}()
	messages, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		// The first may follow a gap: messages that are too old are gone.
		if sequence := meta.Sequence.Stream; sequence < r.next || sequence > r.next && meta.Sequence.Consumer > 1 {
			return fmt.Errorf("message %d after message %d", sequence, r.next-1)
		}
		r.handle(m, h)
		r.next = meta.Sequence.Stream + 1
		r.advance(meta.Sequence.Stream)
	}
}

func (r *Receiver) open(ctx context.Context) (jetstream.MessagesContext, error) {
	ctx, cancel := context.WithTimeout(ctx, request)
	defer cancel()
	c, err := r.js.CreateConsumer(ctx, r.stream, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       r.next,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: inactive,
		Replicas:          1,
		MemoryStorage:     true,
	})
	if err != nil {
		return nil, err
	}
	return c.Messages(jetstream.PullMaxMessagesWithBytesLimit(fetchMessages, fetchBytes), jetstream.PullHeartbeat(heartbeat))
}

// handle gives a message to its share, if the worker of that share has signed it. The heading is none's.
func (r *Receiver) handle(m jetstream.Msg, h Handler) {
	token := strings.TrimPrefix(m.Subject(), subjectOf(r.run, ""))
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(r.shares) {
		return
	}
	s := &r.shares[i]
	number, err := numberOf(m.Headers())
	digest, signature := digestOf(m.Subject(), number, m.Data()), m.Headers().Get(signatureHeader)
	if err == nil && fleet.Signed(r.workers[i].ID, digest, signature) {
		s.receive(number, m.Data(), h)
		return
	}
	if s.forged++; s.forged > mostForged {
		return
	}
	h.Forged(i, slices.IndexFunc(r.workers, func(w fleet.Worker) bool { return err == nil && fleet.Signed(w.ID, digest, signature) }))
}

// mostForged is how many messages of a share that its worker has not signed are looked at for who has.
const mostForged = 10

func (r *Receiver) advance(sequence uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handled = sequence
	rest := r.waiters[:0]
	for _, w := range r.waiters {
		if w.sequence > sequence {
			rest = append(rest, w)
			continue
		}
		close(w.done)
	}
	r.waiters = rest
}

// CaughtUp returns once Run has handled everything that is in the stream at the call.
func (r *Receiver) CaughtUp(ctx context.Context) error {
	var last uint64
	err := persist(ctx, func(ctx context.Context) error {
		s, err := r.js.Stream(ctx, r.stream)
		if err == nil {
			last = s.CachedInfo().State.LastSeq
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("look for records of run %s: %w", r.run, explain(err))
	}
	w := waiter{last, make(chan struct{})}
	r.mu.Lock()
	if r.handled >= last {
		close(w.done)
	} else {
		r.waiters = append(r.waiters, w)
	}
	r.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
