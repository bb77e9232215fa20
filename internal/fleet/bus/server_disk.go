package bus

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

const (
	// lookEvery is how often it is looked at whether streams can be written.
	lookEvery = time.Second
	// spare is the space that must be free for another attempt, in bytes.
	spare = 1 << 20
)

// watchDisk starts JetStream again, until end is called: nats-server gives up streams that it could not
// write, and does not go on with them once the disk has space. Records wait with the workers until then.
func watchDisk(s *server.Server, o *server.Options, l *logger, every time.Duration, say func(string)) (end func()) {
	if say == nil {
		say = func(string) {}
	}
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for reported := false; ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if s.JetStreamEnabled() && !l.isBroken() {
				continue
			}
			err := restart(s, o, l)
			switch {
			case err == nil:
				say(fmt.Sprintf("the folder %s can be written again", o.StoreDir))
			case !reported:
				say(fmt.Sprintf("the folder %s cannot be written (%s): records wait with the workers until it can", o.StoreDir, line(err.Error())))
			}
			reported = err != nil
		}
	})
	return func() {
		close(stop)
		done.Wait()
	}
}

// restart starts JetStream again if the folder can be written.
func restart(s *server.Server, o *server.Options, l *logger) error {
	err := files.TryWriting(o.StoreDir, spare)
	if err != nil {
		return err
	}
	l.setBroken(false) // from here on it is another failure
	if err = s.ShutdownJetStream(); err == nil {
		err = s.EnableJetStream(&server.JetStreamConfig{StoreDir: o.StoreDir, MaxMemory: o.JetStreamMaxMemory, MaxStore: o.JetStreamMaxStore})
	}
	return err
}

func (l *logger) isBroken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

func (l *logger) setBroken(broken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = broken
}
