package inputs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A content is stored as objects of partSize bytes, named OBJECT.0, OBJECT.1 ...: each is small enough to be in
// memory, to be in flight at once, and to be sent again after a failure.
const partSize = 2 << 20

// Time limits. Without one the client of NATS sets one of seconds.
const (
	partTime = 20 * time.Second // for an object
	askTime  = 15 * time.Second
	lookTime = 2 * time.Second    // to look for an object, again and again: a server that ends answers nothing
	keepTime = 7 * 24 * time.Hour // of a bucket that is not removed
)

// parts is the number of objects of so many bytes.
func parts(size int64) int { return max(1, int((size+partSize-1)/partSize)) }

func part(object string, n int) string { return object + "." + strconv.Itoa(n) }

// validRun matches ids of runs that a bucket can be named after.
var validRun = lazy.Regexp(`^[A-Za-z0-9_-]{1,128}$`)

// Bucket is the object store of a run's Inputs.
func Bucket(run string) string { return "PITOT-INPUTS-" + run }

// Offer puts Inputs into the object store of a run, by their positions in the last answer of Inputs. A content that
// is there already costs nothing.
func (l *Ledger) Offer(ctx context.Context, js jetstream.JetStream, run string, positions []int) error {
	l.giving.Lock()
	defer l.giving.Unlock()
	if len(positions) == 0 {
		return nil
	}
	store, err := bucket(ctx, js, run)
	if err != nil {
		return fmt.Errorf("make the object store %s for the files of the run: %w", Bucket(run), inLine(err))
	}
	for _, i := range positions {
		if i < 0 || i >= len(l.inputs) {
			return fmt.Errorf("a worker asks for file %d of %d", i, len(l.inputs))
		}
		n := l.inputs[i]
		id := run + "/" + n.Object
		if l.offered[id] {
			continue
		}
		if err := put(ctx, store, n); err != nil {
			return fmt.Errorf("give the workers %s: %w", Title(n.Input), inLine(err))
		}
		l.offered[id] = true
	}
	return nil
}

// bucket is the object store of a run, made where there is none.
func bucket(ctx context.Context, js jetstream.JetStream, run string) (jetstream.ObjectStore, error) {
	if !validRun.MatchString(run) {
		return nil, fmt.Errorf("%q is no name of a run", run)
	}
	ctx, done := context.WithTimeout(ctx, askTime)
	defer done()
	store, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: Bucket(run), Description: "files that a run of pitot is prepared from", TTL: keepTime, Storage: jetstream.FileStorage})
	if errors.Is(err, jetstream.ErrBucketExists) {
		return js.ObjectStore(ctx, Bucket(run))
	}
	return store, err
}

// put sends a content by parts. It must be the one that was noted.
func put(ctx context.Context, store jetstream.ObjectStore, n *noted) error {
	r, err := n.open(ctx)
	if err != nil {
		return fmt.Errorf("read it again: %w", err)
	}
	defer func() { _ = r.Close() }() // only read
	h := sha256.New()
	left, b := n.Size, make([]byte, min(partSize, n.Size+1))
	for i := range parts(n.Size) {
		one, err := readPart(bounded{ctx, r}, h, b[:min(partSize, left)])
		left -= int64(len(one))
		if err == nil && left == 0 {
			err = ended(r, h, n.Digest) // before the last part is there for anybody
		}
		if err == nil {
			err = putPart(ctx, store, part(n.Object, i), one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errChanged = errors.New("it has changed since the run was prepared; start the run again")

func readPart(r io.Reader, h hash.Hash, b []byte) ([]byte, error) {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errChanged
	}
	_, _ = h.Write(b) // never fails
	return b, err
}

// ended reports whether nothing comes after a content, and whether it is the one noted.
func ended(r io.Reader, h hash.Hash, digest string) error {
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return errChanged
	case !errors.Is(err, io.EOF):
		return err
	case hex.EncodeToString(h.Sum(nil)) != digest:
		return errChanged
	}
	return nil
}

func putPart(ctx context.Context, store jetstream.ObjectStore, name string, b []byte) error {
	ctx, done := context.WithTimeout(ctx, partTime)
	defer done()
	_, err := store.PutBytes(ctx, name, b)
	return err
}

// Fetcher opens the objects of a run, of which each is waited for until ctx ends.
func Fetcher(js jetstream.JetStream, run string) func(ctx context.Context, object string) (io.ReadCloser, error) {
	var store jetstream.ObjectStore
	return func(ctx context.Context, object string) (io.ReadCloser, error) {
		if !validRun.MatchString(run) {
			return nil, fmt.Errorf("%q is no name of a run", run)
		}
		for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
			b, err := get(ctx, js, run, &store, object)
			if err == nil {
				return opened(b, nil)
			}
			select {
			case <-ctx.Done():
				return nil, fmt.Errorf("%w, and the object store of the run says: %s", context.Cause(ctx), secret.Mask(err.Error()))
			case <-time.After(pause):
			}
		}
	}
}

// get is the content of an object. The client of NATS may stay with one that does not come until
// its time is over: that is not waited for.
func get(ctx context.Context, js jetstream.JetStream, run string, store *jetstream.ObjectStore, object string) ([]byte, error) {
	type result struct {
		store jetstream.ObjectStore
		b     []byte
		err   error
	}
	ctx, done := context.WithTimeout(ctx, partTime)
	got := make(chan result, 1)
	go func(r result) {
		defer done()
		r.store, r.err = look(ctx, js, run, r.store, object)
		if r.err == nil {
			r.b, r.err = read(ctx, r.store, object)
		}
		got <- r
	}(result{store: *store})
	select {
	case r := <-got:
		*store = r.store
		return r.b, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// look finds out whether an object is there, and the store of it.
func look(ctx context.Context, js jetstream.JetStream, run string, store jetstream.ObjectStore, object string) (jetstream.ObjectStore, error) {
	ctx, done := context.WithTimeout(ctx, lookTime)
	defer done()
	if store == nil {
		var err error
		if store, err = js.ObjectStore(ctx, Bucket(run)); err != nil {
			return nil, err
		}
	}
	_, err := store.GetInfo(ctx, object)
	return store, err
}

// read reads an object, of a size that a part can have.
func read(ctx context.Context, store jetstream.ObjectStore, object string) ([]byte, error) {
	r, err := store.Get(ctx, object)
	if err != nil {
		return nil, err
	}
	b := new(bytes.Buffer)
	_, err = io.Copy(b, io.LimitReader(r, partSize+1))
	if err == nil && b.Len() > partSize {
		err = fmt.Errorf("the object %s is larger than a part", object)
	}
	return b.Bytes(), errors.Join(err, r.Close())
}

// Remove removes the object store of a run; one that is not there is no error.
func Remove(ctx context.Context, js jetstream.JetStream, run string) error {
	if !validRun.MatchString(run) {
		return nil // there is none
	}
	ctx, done := context.WithTimeout(ctx, askTime)
	defer done()
	err := js.DeleteObjectStore(ctx, Bucket(run))
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil
	}
	return err
}
