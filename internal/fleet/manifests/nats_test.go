package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// conf is nats.conf of a fleet, with a folder and ports of this machine.
func conf(t *testing.T, o Options) string {
	t.Helper()
	text := at(t, kindOf(t, decoded(t, written(t, o)), "ConfigMap", "pitot-nats"), "data", "nats.conf").(string)
	folder := t.TempDir()
	file := filepath.Join(folder, "nats.conf")
	text = strings.NewReplacer("port: 4222", "host: 127.0.0.1\nport: -1", "http: 8222", "", "/data", filepath.Join(folder, "data")).Replace(text)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A server reads nats.conf, asks for the token, and stores up to nine tenths of its volume.
func TestTheServerTakesItsConfiguration(t *testing.T) {
	o := full()
	o.TLS = ""
	t.Setenv("PITOT_FLEET_TOKEN", o.Token)
	t.Setenv("POD_NAME", "pitot-nats-0")
	options, err := server.ProcessConfigFile(conf(t, o))
	if err != nil {
		t.Fatal(err)
	}
	options.NoSigs, options.NoLog = true, true
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not come up")
	}
	if c, err := nats.Connect(s.ClientURL(), nats.Token("another")); err == nil {
		c.Close()
		t.Error("another token is let in")
	}
	c, err := nats.Connect(s.ClientURL(), nats.Token(o.Token))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "PITOT-x", Subjects: []string{"pitot.run.x.*"}}); err != nil {
		t.Error(err)
	}
	const want = 1_484_340_697_497 // 0.9 * 1.5 * 2^40
	if got := s.JetStreamConfig().MaxStore; got != want || s.Name() != "pitot-nats-0" || c.MaxPayload() != 8_000_000 && c.MaxPayload() != 8<<20 {
		t.Errorf("store %d, want %d; name %s; payload %d", got, want, s.Name(), c.MaxPayload())
	}
}
