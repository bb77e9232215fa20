package bus

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// frameOf is a frame of WebSocket, as a server sends it.
func frameOf(first byte, length uint64, payload string) string {
	b := []byte{first, byte(length)}
	switch {
	case length > 0xffff:
		b = binary.BigEndian.AppendUint64([]byte{first, 127}, length)
	case length > 125:
		b = binary.BigEndian.AppendUint16([]byte{first, 126}, uint16(length))
	}
	return string(b) + payload
}

const switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

// What a server sends is let through, however it is cut, and what nats.go would take for the announcement of more than a
// server sends is not. An inner newline that nats.go does not take for one is refused too.
func TestFraming(t *testing.T) {
	t.Parallel()
	const info = "INFO {\"max_payload\":1048576} \r\n"
	whole := info + "PING\r\nPONG\r\n+OK\r\n-ERR 'no'\r\nMSG a.b 1 5\r\nMSG x\r\nMSG a 1 _INBOX.x 0\r\n\r\nHMSG a 1 r 12 14\r\nNATS/1.0\r\n\r\nhi\r\n" +
		fmt.Sprintf("MSG a 1 %d\r\n%s\r\n", 1<<20, strings.Repeat("\n", 1<<20))
	for _, tt := range []struct{ what, sent, want string }{
		{"all", whole, ""},
		{"a size that nobody sends", info + "MSG x 1 99999999999\r\n", "announces a message of 99999999999 bytes, and may send 1414485"},
		{"one above", info + "MSG x 1 r 1414486\r\n", "announces a message of 1414486 bytes"},
		{"without INFO", "MSG x 1 11201195\r\n", "may send 11201194"},
		{"a server that takes more", "INFO {\"max_payload\":99999999999}\r\nMSG x 1 99999999998\r\n", "may send 11201194"},
		{"a negative limit", "INFO {\"max_payload\":-1}\r\nMSG x 1 99999999998\r\n", "may send 11201194"},
		{"with headers", info + "HMSG x 1 r 12 99999999999\r\n", "announces a message of 99999999999 bytes"},
		{"headers larger than all", info + "HMSG x 1 12 11\r\n", "a message of 12 bytes, and may send 11"},
		{"more digits than a number has", info + "MSG x 1 " + strings.Repeat("9", 40) + "\r\n", "announces a message of 99999999999999999999 bytes"},
		{"a negative size", info + "MSG x 1 -1\r\n", "not the protocol"},
		{"no size", info + "MSG x\r\n", "not the protocol"},
		{"too many words", info + "MSG x 1 r r 1\r\n", "not the protocol"},
		{"a payload that is longer", info + "MSG x 1 2\r\nabc\r\n", "another size"},
		{"a payload without its end", info + "MSG x 1 2\r\nab\nMSG x 1 99999999999\r\n", "another size"},
		{"a line without an end", info + "MSG " + strings.Repeat("x", longestLine), "a line of more than 65536 bytes"},
		{"INFO without an end", "INFO {" + strings.Repeat("x", longestLine), "a line of more than 65536 bytes"},
		{"INFO that nats.go reads on", info + "INFO \nMSG x 1 30\r\nMSG x 1 99999999999\r\n", "not the protocol"},
		{"an error that nats.go reads on", info + "-ERR \r\nMSG x 1 30\r\n", "not the protocol"},
		{"a line that ends otherwise", info + "PING\n", "not the protocol"},
		{"another tab", info + "MSG\tx 1 99999999999\r\n", "not the protocol"},
		{"lower case", info + "msg x 1 99999999999\r\n", "not the protocol"},
		{"what is none", "\x00\r\n", "not the protocol"},
	} {
		checkFollowed(t, tt.what, func() follower { return new(framing) }, tt.sent, tt.want)
		half := len(tt.sent) / 2
		web := switching + frameOf(0x02, uint64(half), tt.sent[:half]) + frameOf(0x89, 2, "hi") + frameOf(0x80, uint64(len(tt.sent)-half), tt.sent[half:])
		checkFollowed(t, tt.what+", in WebSocket", func() follower { return new(webFraming) }, web, tt.want)
	}
	for _, tt := range []struct{ what, sent, want string }{
		{"another answer", "HTTP/1.1 400 Bad Request\r\n no \r\n" + strings.Repeat("x", 2*longestLine), ""},
		{"what is no HTTP", "PING\n\x00", ""},
		{"a header without an end", "HTTP/1.1 101 x\r\nA: " + strings.Repeat("x", longestLine), "a line of more than 65536 bytes"},
		{"headers without an end", "HTTP/1.1 101 x\r\n" + strings.Repeat("A: 1234567890\r\n", longestLine/10), "headers of more than 65536 bytes"},
		{"an end that is none", "HTTP/1.1 101 x\r\n \t\r\n", "does not answer with WebSocket"},
		{"a frame that nobody sends", switching + frameOf(0x82, 1<<40, ""), "announces a frame of 1099511627776 bytes, and may send 67108864"},
		{"a negative frame", switching + frameOf(0x82, 1<<63, ""), "announces a frame"},
		{"a compressed frame", switching + frameOf(0xc2, 2, ""), "compressed or masked"},
		{"a masked frame", switching + "\x82\x82abcd", "compressed or masked"},
		{"another kind", switching + frameOf(0x83, 2, ""), "unknown kind 3"},
	} {
		checkFollowed(t, tt.what, func() follower { return new(webFraming) }, tt.sent, tt.want)
	}
}

// checkFollowed follows a text whole, in pieces, and by bytes where it is short.
func checkFollowed(t *testing.T, what string, begin func() follower, sent, want string) {
	t.Helper()
	for _, size := range []int{len(sent), 1000, 7, 1} {
		if size == 1 && len(sent) > 1<<18 {
			continue
		}
		err := followIn(begin(), []byte(sent), size)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s, in pieces of %d: %v, want %q", what, size, err, want)
		}
	}
}

func followIn(f follower, b []byte, size int) error {
	for len(b) > 0 {
		n := min(size, len(b))
		if err := f.follow(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// However what is sent is cut, it is let through or not, and little of it is kept.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("INFO {}\r\nMSG x 1 2\r\nab\r\nHMSG x 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n"), uint8(3))
	f.Add([]byte(switching+frameOf(0x82, 6, "PING\r\n")+frameOf(0x88, 2, "ab")), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		for _, begin := range []func() (follower, *lines){
			func() (follower, *lines) { f := new(framing); return f, &f.lines },
			func() (follower, *lines) { f := new(webFraming); return f, &f.framing.lines },
		} {
			whole, _ := begin()
			pieces, kept := begin()
			a, b := whole.follow(data), followIn(pieces, data, int(size)+1)
			if (a == nil) != (b == nil) || len(kept.begun) > longestLine {
				t.Errorf("whole: %v, in pieces of %d: %v, %d bytes are kept", a, int(size)+1, b, len(kept.begun))
			}
		}
	})
}
