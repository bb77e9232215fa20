package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

const (
	// sendWithin is how long a record waits for others to fill a message.
	sendWithin = 100 * time.Millisecond
	// maxInFlight is the most messages that are sent and not confirmed: 4 MiB.
	maxInFlight = 16
	// sendAhead is how many messages after the first unconfirmed one may be sent.
	sendAhead = 4 * maxInFlight
	// confirmWithin is when a message counts as not delivered. With the fewest in flight, a line
	// of 13 kB/s is fast enough.
	confirmWithin = 20 * time.Second
	// A message that is confirmed within promptly lets more be in flight, one that takes longer than slowly fewer:
	// a slow line stays busy, and is not filled up with messages that time out.
	promptly = 500 * time.Millisecond
	slowly   = 2 * time.Second
	// The wait before messages that were refused or lost are sent again doubles from firstRetry to
	// lastRetry.
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
	// missingAnswers is how many answers in a row must say that there is no stream, or nobody who knows,
	// to be believed. A server that starts or stops may say so.
	missingAnswers = 3
)

// A Sender delivers the records of one share. It sends each message until the stream confirms it:
// after a server was restarted, while the stream is full, while nobody leads it.
type Sender struct {
	api       jetstream.JetStream // for questions
	publisher jetstream.JetStream // of this Sender alone, so that its timeouts and acknowledgments are
	run       string
	stream    string
	subject   string
	key       fleet.Key
	wake      chan struct{}
	end       context.CancelFunc
	loops     sync.WaitGroup

	mu       sync.Mutex
	err      error           // why nothing is sent any more
	lost     bool            // because of that, something is not delivered
	records  []*trace.Record // not encoded yet
	closing  *fleet.End      // to follow them
	size     int             // of records, encoded, about
	oldest   time.Time       // when the first of records came
	flush    bool            // wait for no others
	cutting  bool            // messages are being made of records
	count    int             // records that are not confirmed
	out      []*message      // not confirmed, in order
	first    uint64          // number of out[0], or of the next one
	inFlight int             // of out
	window   int             // limit of inFlight
	failed   int             // failures since the last confirmation
	refused  error           // the last of them
	retryAt  time.Time
	settled  chan struct{} // closed once all is confirmed, or err is set; nil: no waiter

	missing int // used by the loop
}

// A message is a piece of the share's bytes.
type message struct {
	*nats.Msg
	number  uint64
	records int // that end in it
	state   state
	sent    time.Time
}

type state int

const (
	waiting state = iota
	inFlight
	confirmed
)

// NewSender returns a Sender for one share of a run, with the key of its worker. Wait returns the error of wrong
// arguments.
func NewSender(js jetstream.JetStream, run string, share int, key fleet.Key) *Sender {
	ctx, end := context.WithCancel(context.Background())
	s := &Sender{
		api: js, run: run, key: key, subject: subjectOf(run, strconv.Itoa(share)),
		wake: make(chan struct{}, 1), end: end, first: 1, window: maxInFlight,
	}
	s.stream, s.err = streamOf(run)
	var err error
	s.publisher, err = jetstream.New(js.Conn(),
		jetstream.WithPublishAsyncTimeout(confirmWithin),
		jetstream.WithPublishAsyncAckHandler(func(_ jetstream.JetStream, m *nats.Msg, _ *jetstream.PubAck) { s.confirm(m) }),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, m *nats.Msg, err error) { s.resend(m, err) }))
	if s.err = errors.Join(s.err, err); s.err != nil {
		s.lost = true
	} else {
		s.loops.Go(func() { s.loop(ctx) })
	}
	return s
}

// Record takes a record; it must not be changed afterwards. It never waits.
func (s *Sender) Record(r *trace.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if s.err != nil {
		s.lost = true
		return
	}
	if len(s.records) == 0 {
		s.oldest = time.Now()
	}
	s.records = append(s.records, r)
	before := s.size
	s.size += 100 + len(r.Text) + len(r.Error) + 6*len(r.Chunks)
	if before == 0 || before < messageSize && s.size >= messageSize {
		s.poke()
	}
}

// End takes the end of the share, after its last Record.
func (s *Sender) End(e fleet.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		s.lost = true
		return
	}
	s.closing, s.flush = &e, true
	s.poke()
}

// Undelivered counts the records that the stream has not confirmed.
func (s *Sender) Undelivered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Wait waits until the stream has confirmed everything. An error wraps ErrGone if the stream
// does not exist any more.
func (s *Sender) Wait(ctx context.Context) error {
	s.mu.Lock()
	s.flush = true
	s.poke()
	if s.settled == nil {
		s.settled = make(chan struct{})
	}
	settled := s.settled
	s.settle()
	s.mu.Unlock()
	select {
	case <-settled:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return s.err
	}
	return nil
}

// Close ends the Sender. Unconfirmed messages may be lost.
func (s *Sender) Close() {
	s.end()
	s.loops.Wait()
	s.giveUp(errors.New("closed"))
	if s.publisher != nil {
		s.publisher.CleanupPublisher()
	}
}

func (s *Sender) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// idle reports whether all is confirmed. s.mu is held.
func (s *Sender) idle() bool {
	return len(s.records) == 0 && s.closing == nil && !s.cutting && len(s.out) == 0
}

// settle ends Wait if nothing is left to wait for. s.mu is held.
func (s *Sender) settle() {
	if s.settled != nil && (s.idle() || s.err != nil) {
		close(s.settled)
		s.settled = nil
	}
}

// giveUp ends all attempts. Records that come later are counted and dropped.
func (s *Sender) giveUp(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("deliver records of run %s: %w", s.run, err)
		s.lost = !s.idle()
	}
	s.records, s.closing, s.out = nil, nil, nil
	s.settle()
}

func (s *Sender) loop(ctx context.Context) {
	var e encoder
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		if err := s.encode(&e); err != nil {
			s.giveUp(err)
			return
		}
		wait, err := s.publish(ctx)
		if err != nil {
			s.giveUp(err)
			return
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// An encoder cuts frames into messages. Its buffers serve again.
type encoder struct {
	records []*trace.Record
	buf     []byte
	out     []*message
}

// encode makes messages of the records, if they fill one or have waited long enough.
func (s *Sender) encode(e *encoder) error {
	s.mu.Lock()
	if len(s.records) == 0 && s.closing == nil || !s.flush && s.size < messageSize && time.Since(s.oldest) < sendWithin {
		s.mu.Unlock()
		return nil
	}
	records, end, next := s.records, s.closing, s.first+uint64(len(s.out))
	s.records, s.size, s.closing, s.cutting = e.records[:0], 0, nil, true
	s.mu.Unlock()

	err := e.cut(records, end, func(data []byte, records int) {
		m := signed(s.key, s.subject, next, data)
		e.out = append(e.out, &message{Msg: m, number: next, records: records})
		next++
	})
	clear(records)
	e.records = records

	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, e.out...)
	clear(e.out)
	e.out = e.out[:0]
	s.cutting = false
	s.flush = s.flush && len(s.records) > 0
	return err
}

// cut encodes records and an end, and makes messages of the bytes.
func (e *encoder) cut(records []*trace.Record, end *fleet.End, add func(data []byte, records int)) error {
	complete := 0 // records that end in buf
	message := func(data []byte) {
		add(bytes.Clone(data), complete)
		complete = 0
	}
	for _, r := range records {
		start := len(e.buf)
		e.buf = appendRecordFrame(e.buf, recordFrame, r)
		if n := len(e.buf) - start; n > headSize+maxFrame {
			return fmt.Errorf("record %d takes %d bytes, more than %d", r.Index, n, maxFrame)
		}
		rest := e.buf
		for ; len(rest) > messageSize; rest = rest[messageSize:] {
			message(rest[:messageSize])
		}
		e.buf = append(e.buf[:0], rest...)
		complete++
	}
	if end != nil {
		var err error
		if e.buf, err = appendEnd(e.buf, *end); err != nil {
			return err
		}
	}
	for piece := range slices.Chunk(e.buf, messageSize) {
		message(piece)
	}
	if e.buf = e.buf[:0]; cap(e.buf) > keepBuffer {
		e.buf = nil
	}
	return nil
}

// publish sends the messages that may be sent now, and returns when to look again.
func (s *Sender) publish(ctx context.Context) (time.Duration, error) {
	conn := s.publisher.Conn()
	for ctx.Err() == nil {
		if conn.IsClosed() {
			return 0, nats.ErrConnectionClosed
		}
		m, retry, wait := s.next(conn.IsConnected())
		if m == nil {
			return wait, nil
		}
		if retry && s.removed(ctx) {
			return 0, ErrGone
		}
		if _, err := s.publisher.PublishMsgAsync(m); err != nil {
			s.resend(m, err)
		}
	}
	return 0, nil
}

// next takes the message to be sent, nil if none is now; then wait is how long nothing will be by
// time alone. retry: the last attempts failed.
func (s *Sender) next(connected bool) (m *nats.Msg, retry bool, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	wait = time.Hour
	if len(s.records) > 0 {
		wait = max(0, s.oldest.Add(sendWithin).Sub(now))
	}
	if s.inFlight >= s.window || len(s.out) == s.inFlight {
		return nil, false, wait
	}
	if until := s.retryAt.Sub(now); until > 0 {
		return nil, false, min(wait, until)
	}
	if !connected {
		return nil, false, min(wait, firstRetry)
	}
	for _, m := range s.out[:min(len(s.out), sendAhead)] {
		if m.state == waiting {
			m.state, m.sent = inFlight, now
			s.inFlight++
			return m.Msg, s.failed > 0, 0
		}
	}
	return nil, false, wait
}

// removed asks whether the stream is gone, which a message that is sent does not tell.
func (s *Sender) removed(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, request)
	defer cancel()
	if _, err := s.api.Stream(ctx, s.stream); errors.Is(err, jetstream.ErrStreamNotFound) {
		s.missing++
	} else {
		s.missing = 0
	}
	return s.missing >= missingAnswers
}

// find returns the message of out that m is, if it is in flight. s.mu is held.
func (s *Sender) find(m *nats.Msg) *message {
	n, err := numberOf(m.Header)
	if err != nil || n < s.first || n-s.first >= uint64(len(s.out)) || s.out[n-s.first].state != inFlight {
		return nil
	}
	return s.out[n-s.first]
}

// confirm is called for each message that is stored.
func (s *Sender) confirm(sent *nats.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(sent)
	if m == nil {
		return
	}
	m.state = confirmed
	m.Msg = nil
	s.inFlight--
	s.failed, s.retryAt, s.refused = 0, time.Time{}, nil
	if took := time.Since(m.sent); took < promptly {
		s.window = min(maxInFlight, 2*s.window)
	} else if took > slowly {
		s.window = max(1, s.window/2)
	}
	n := 0
	for ; n < len(s.out) && s.out[n].state == confirmed; n++ {
		s.count -= s.out[n].records
	}
	s.first += uint64(n)
	s.out = slices.Delete(s.out, 0, n)
	s.settle()
	if len(s.out) > s.inFlight {
		s.poke()
	}
}

// Refused is why the last message was not stored, nil if it was.
func (s *Sender) Refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// resend is called for each message that was not stored, as far as is known.
func (s *Sender) resend(sent *nats.Msg, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(sent)
	if m == nil {
		return
	}
	m.state = waiting
	s.refused = why
	s.inFlight--
	s.window = 1
	if now := time.Now(); !now.Before(s.retryAt) {
		s.retryAt = now.Add(min(lastRetry, firstRetry<<min(s.failed, 10)))
		s.failed++
	}
	s.poke()
}
