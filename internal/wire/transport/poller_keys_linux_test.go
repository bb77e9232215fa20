//go:build linux && (amd64 || arm64)

package transport

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
)

// A sealer makes the records of a TLS 1.3 server.
type sealer struct {
	secret []byte
	seq    uint64
}

// expand is HKDF-Expand-Label of RFC 8446, section 7.1, without a context.
func (s *sealer) expand(label string, size int) []byte {
	label = "tls13 " + label
	info := append([]byte{0, byte(size), byte(len(label))}, label...)
	b, err := hkdf.Expand(sha256.New, s.secret, string(append(info, 0)), size)
	if err != nil {
		panic(err)
	}
	return b
}

// record seals content of a type.
func (s *sealer) record(kind byte, content []byte) []byte {
	block, err := aes.NewCipher(s.expand("key", 16))
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	nonce := s.expand("iv", 12)
	last := nonce[4:]
	binary.BigEndian.PutUint64(last, binary.BigEndian.Uint64(last)^s.seq)
	s.seq++
	head := binary.BigEndian.AppendUint16([]byte{23, 3, 3}, uint16(len(content)+1+gcm.Overhead()))
	return gcm.Seal(head, nonce, append(bytes.Clone(content), kind), head)
}

// newKeys asks the other side for new keys, and takes its own.
func (s *sealer) newKeys() []byte {
	b := s.record(22, []byte{24, 0, 0, 1, 1})
	s.secret, s.seq = s.expand("traffic upd", sha256.Size), 0
	return b
}

// A server may ask for new keys several times, and read none of the answers. While there is room for these the
// stream goes on; then it ends, since the poller does not wait for room. Other streams go on.
func TestAServerThatAsksForKeysAndReadsNothing(t *testing.T) {
	for _, w := range polledWays[2:] {
		for _, room := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, room %v", w, room), func(t *testing.T) {
				url, trust := askForKeys(t, 10)
				cfg := w.config(Config{}, trust)
				cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, addr)
					if err == nil && !room {
						_ = conn.(*net.TCPConn).SetWriteBuffer(1)
					}
					return conn, err
				}
				c := New(cfg)
				defer c.Close()
				for i := range 2 {
					soon(t, func() {
						var r tape
						_, err := c.Do(t.Context(), &Request{Method: http.MethodGet, URL: url}, &r)
						whole := err == nil && r.body.String() == "."
						if may := !room && i == 0 && err != nil; !whole && !may { // the kernel may find room yet
							t.Errorf("request %d: error %v, body %q", i, err, r.body.String())
						}
					})
				}
			})
		}
	}
}

// askForKeys answers one request on each connection, the first one behind this number of new keys.
func askForKeys(t *testing.T, times int) (url string, trust *tls.Config) {
	server, trust := certificates(t)
	var keys bytes.Buffer
	server.KeyLogWriter, server.SessionTicketsDisabled = &keys, true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); served.Wait() })
	served.Go(func() {
		for ; ; times = 0 {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			defer raw.Close()
			conn := tls.Server(raw, server)
			if _, err := conn.Read(make([]byte, 4<<10)); err != nil {
				t.Error(err)
				return
			}
			answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n.")
			if times == 0 {
				_, _ = conn.Write(answer)
				continue
			}
			if suite := conn.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
				t.Errorf("cipher suite %x", suite) // Go's choice where the processor has AES
			}
			_ = raw.(*net.TCPConn).SetReadBuffer(1)
			s := &sealer{secret: trafficSecret(t, keys.String())}
			var flood []byte
			for range times {
				flood = append(flood, s.newKeys()...)
			}
			_, _ = raw.Write(append(flood, s.record(23, answer)...))
		}
	})
	return "https://" + l.Addr().String() + "/", trust
}

// trafficSecret is the server's first one in a log of keys.
func trafficSecret(t *testing.T, log string) []byte {
	var secret string
	for line := range bytes.Lines([]byte(log)) {
		_, _ = fmt.Sscanf(string(line), "SERVER_TRAFFIC_SECRET_0 %s %s", new(string), &secret)
	}
	b, err := hex.DecodeString(secret)
	if err != nil || len(b) != sha256.Size {
		t.Errorf("no secret in %q", log)
	}
	return b
}
