package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
)

// ErrGone is wrapped by errors of a run without a stream: it never had one, or is finished or discarded.
var ErrGone = errors.New("no stream of this run")

const (
	streamPrefix  = "PITOT-"
	subjectPrefix = "pitot.run."
	headingToken  = "heading"

	// messageSize is the most bytes of a message. Servers take 1 MiB unless configured otherwise.
	messageSize = 256 << 10
	// forgetAfter is when messages of a run that nobody collected are deleted.
	forgetAfter = 7 * 24 * time.Hour
	// request limits one request to the server; requests that must succeed are repeated.
	request = 5 * time.Second
	// startWithin is how long a server may take to start.
	startWithin = 30 * time.Second

	// numberHeader is the position of a message in its share, from 1.
	numberHeader = "Pitot-Number"
	// totalHeader is the number of messages of a heading.
	totalHeader = "Pitot-Total"
	// signatureHeader holds the signature of the worker that owns the share.
	signatureHeader = "Pitot-Signature"
)

// streamOf names the stream of a run. A run's id is part of subjects.
func streamOf(run string) (string, error) {
	if !fleet.IsRun(run) {
		return "", fmt.Errorf("%.120q is not the id of a run: want letters, digits and -", run)
	}
	return streamPrefix + run, nil
}

func subjectOf(run, token string) string { return subjectPrefix + run + "." + token }

// Create makes the stream of a run, named after h.Fleet, and stores its heading there.
func Create(ctx context.Context, js jetstream.JetStream, h fleet.Heading) error {
	name, err := streamOf(h.Fleet)
	if err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode the heading of run %s: %w", h.Fleet, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	var s jetstream.Stream
	err = persist(ctx, func(ctx context.Context) (err error) {
		s, err = js.CreateStream(ctx, jetstream.StreamConfig{
			Name:      name,
			Subjects:  []string{subjectOf(h.Fleet, ">")},
			Storage:   jetstream.FileStorage,
			Retention: jetstream.LimitsPolicy,
			Discard:   jetstream.DiscardNew,
			MaxAge:    forgetAfter,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("create stream %s: %w", name, explain(err))
	}
	if n := s.CachedInfo().State.LastSeq; n > 0 {
		return fmt.Errorf("create stream %s: it exists and has messages; each run needs an id of its own", name)
	}
	return publishHeading(ctx, js, h.Fleet, text)
}

func publishHeading(ctx context.Context, js jetstream.JetStream, run string, text []byte) error {
	pieces := slices.Collect(slices.Chunk(text, messageSize))
	for i, piece := range pieces {
		m := newMessage(subjectOf(run, headingToken), uint64(i+1), piece)
		m.Header.Set(jetstream.MsgIDHeader, m.Header.Get(numberHeader)) // one that is stored again would come twice
		m.Header.Set(totalHeader, strconv.Itoa(len(pieces)))
		err := persist(ctx, func(ctx context.Context) error {
			_, err := js.PublishMsg(ctx, m)
			return err
		})
		if err != nil {
			return fmt.Errorf("store the heading of run %s: %w", run, explain(err))
		}
	}
	return nil
}

// newMessage is message number n of a share, or of the heading.
func newMessage(subject string, n uint64, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: data, Header: nats.Header{numberHeader: {strconv.FormatUint(n, 10)}}}
}

// signed is newMessage, signed by the worker of its share. It has no id by which the server would drop duplicates:
// others could use up such ids before.
func signed(key fleet.Key, subject string, n uint64, data []byte) *nats.Msg {
	m := newMessage(subject, n, data)
	m.Header.Set(signatureHeader, key.Sign(digestOf(subject, n, data)))
	return m
}

// digestOf is the digest to sign: worker, number and content of a message.
func digestOf(subject string, n uint64, data []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d ", subject, n)
	h.Write(data)
	return h.Sum(nil)
}

func numberOf(h nats.Header) (uint64, error) {
	n, err := strconv.ParseUint(h.Get(numberHeader), 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("a message has %.40q as its number", h.Get(numberHeader))
	}
	return n, nil
}

// explain adds a way out to errors that have one.
func explain(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return ErrGone
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w; start nats-server with -js, and enable JetStream for the account", err)
	}
	return err
}

// Remove deletes the stream of a run. It is no error if there is none.
func Remove(ctx context.Context, js jetstream.JetStream, run string) error {
	name, err := streamOf(run)
	if err != nil {
		return err
	}
	if err := js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("delete stream %s: %w", name, explain(err))
	}
	return nil
}

// Runs lists the runs that have a stream, in order.
func Runs(ctx context.Context, js jetstream.JetStream) ([]string, error) {
	var runs []string
	names := js.StreamNames(ctx, jetstream.WithStreamListSubject(subjectPrefix+">"))
	for name := range names.Name() {
		run, ours := strings.CutPrefix(name, streamPrefix)
		if _, err := streamOf(run); ours && err == nil {
			runs = append(runs, run)
		}
	}
	if err := names.Err(); err != nil && !errors.Is(err, jetstream.ErrEndOfData) {
		return nil, fmt.Errorf("list the streams of runs: %w", explain(err))
	}
	slices.Sort(runs)
	return runs, nil
}
