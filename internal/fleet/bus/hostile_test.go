package bus_test

import (
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

// A hostile server lets a client in and then announces what no client can hold.
type hostile struct {
	t    *testing.T
	web  bool
	tls  *tls.Config // nil: not encrypted
	says string      // once the client is in
}

func (h hostile) serve(conn net.Conn) {
	const info = `INFO {"server_id":"x","max_payload":1048576,"headers":true,"jetstream":true,"tls_required":%t}` + " \r\n"
	if h.web {
		if conn = h.upgrade(conn); conn == nil {
			return
		}
		_, _ = fmt.Fprintf(conn, info, false)
	} else {
		_, _ = fmt.Fprintf(conn, info, h.tls != nil)
		if h.tls != nil {
			conn = tls.Server(conn, h.tls)
		}
	}
	r := bufio.NewReader(conn)
	for { // of WebSocket what comes is masked, and not read
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if strings.HasPrefix(line, "PING") {
			break
		}
	}
	_, _ = io.WriteString(conn, "PONG\r\n")
	_, _ = r.ReadByte() // it is in
	_, _ = io.WriteString(conn, h.says)
	_, _ = io.Copy(io.Discard, conn)
}

// upgrade takes a client of WebSocket in; what is written then is in frames, and what is read is a PING.
func (h hostile) upgrade(conn net.Conn) net.Conn {
	if h.tls != nil {
		conn = tls.Server(conn, h.tls)
	}
	r := bufio.NewReader(conn)
	q, err := http.ReadRequest(r)
	if err != nil {
		return nil
	}
	sum := sha1.Sum([]byte(q.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	return framed{conn, io.MultiReader(strings.NewReader("PING\r\n"), conn)}
}

type framed struct {
	net.Conn
	io.Reader
}

func (f framed) Read(b []byte) (int, error) { return f.Reader.Read(b) }

func (f framed) Write(b []byte) (int, error) {
	for len(b) > 0 {
		n := min(len(b), 125)
		if _, err := f.Conn.Write(append([]byte{0x82, byte(n)}, b[:n]...)); err != nil {
			return 0, err
		}
		b = b[n:]
	}
	return len(b), nil
}

// A server that announces a message of 99999999999 bytes, or a line without an end, loses the connection, and the client
// goes on with what it has: over every kind of connection.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	ca := fleettest.NewCA(t)
	certFile, keyFile := ca.Issue(t, "server")
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := &tls.Config{Certificates: []tls.Certificate{cert}}
	for _, kind := range []struct {
		scheme string
		web    bool
		tls    *tls.Config
	}{{"nats", false, nil}, {"nats", false, encrypted}, {"tls", false, encrypted}, {"ws", true, nil}, {"wss", true, encrypted}} {
		for _, tt := range []struct{ says, want string }{
			{"MSG x 1 99999999999\r\n", "announces a message of 99999999999 bytes"},
			{"HMSG x 1 12 99999999999\r\n", "announces a message of 99999999999 bytes"},
			{"INFO {" + strings.Repeat("x", 1<<17), "a line of more than 65536 bytes"},
			{"MSG " + strings.Repeat("x", 1<<17), "a line of more than 65536 bytes"},
		} {
			name := fmt.Sprintf("%s, TLS %t, %.10s", kind.scheme, kind.tls != nil, tt.says)
			at := listen(t, hostile{t, kind.web, kind.tls, tt.says}.serve)
			o := bus.Options{URL: kind.scheme + "://" + at}
			if kind.tls != nil {
				o.CA = ca.File
			}
			ctx, enough := context.WithCancelCause(limited(t))
			o.Log = func(line string) {
				if strings.Contains(line, "is lost") {
					enough(errors.New(line))
				}
			}
			b, err := bus.Connect(ctx, o)
			if err == nil {
				b.Close()
			}
			if text := fmt.Sprint(err, context.Cause(ctx)); err == nil || !strings.Contains(text, tt.want) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}
