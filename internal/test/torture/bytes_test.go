package torture

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"
)

// say writes bytes of HTTP/1.1.
func say(s ...string) func(net.Conn) {
	return func(c net.Conn) { _ = text(s...)(c) }
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

// http1 is the table of answers that are wrong as HTTP/1.1.
func http1() []hostile {
	good := "data: " + delta + "\n\ndata: " + finish + "\n\ndata: [DONE]\n\n"
	sized := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(good), good)
	list := []hostile{
		{name: "nothing", ends: "failed", reply: reply{bytes: say()}},
		{name: "reset", ends: "failed", reply: reply{bytes: func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }}},
		{name: "garbage", ends: "failed", reply: reply{bytes: say(noise(4 << 10))}},
		{name: "another-protocol", ends: "failed", reply: reply{bytes: say("SSH-2.0-OpenSSH_9.9\r\n")}},
		{name: "http-0.9", ends: "failed", reply: reply{bytes: say(good)}},
		{name: "http-2.0", reply: reply{bytes: say("HTTP/2.0 200 OK\r\n\r\n")}},
		{name: "http-9.9", reply: reply{bytes: say("HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n")}},
		{name: "status-negative", ends: "failed", reply: reply{bytes: say("HTTP/1.1 -200 OK\r\n\r\n")}},
		{name: "status-huge", ends: "failed", reply: reply{bytes: say("HTTP/1.1 99999999999999999999 OK\r\n\r\n")}},
		{name: "status-escapes", ends: "failed", reply: reply{bytes: say("HTTP/1.1 500 " + escape + secret + "\r\nContent-Length: 0\r\n\r\n")}},
		{name: "status-line-without-end", ends: "failed", reply: reply{bytes: endless("HTTP/1.1 200 ", "x")}},
		{name: "status-line-drip", ends: "failed", reply: reply{bytes: func(c net.Conn) { _ = drip("HTTP/1.1 200 ", "x")(c) }}},
		{name: "bare-newlines", reply: reply{bytes: say("HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n" + good)}},
		{name: "header-no-colon", reply: reply{bytes: say(head + "no colon\r\n\r\n" + good)}},
		{name: "header-space-before-colon", reply: reply{bytes: say(head + "X-A : b\r\n\r\n" + good)}},
		{name: "header-folded", reply: reply{bytes: say(head + "X-A: b\r\n c\r\n\r\n" + good)}},
		{name: "header-null", reply: reply{bytes: say(head + "X-A: \x00\r\n\r\n" + good)}},
		{name: "header-raw-escapes", ends: "", reply: reply{bytes: say("HTTP/1.1 301 X\r\nLocation: " + escape + "\r\nContent-Length: 0\r\n\r\n")}},
		{name: "header-without-end", ends: "failed", reply: reply{bytes: endless(head+"X-A: ", "x")}},
		{name: "headers-without-end", ends: "failed", reply: reply{bytes: endless(head, "X-A: b\r\n")}},
		{name: "headers-drip", ends: "failed", reply: reply{bytes: func(c net.Conn) { _ = drip(head, "X-A: b\r\n")(c) }}},
		{name: "lengths-differ", reply: reply{bytes: say(head + "Content-Length: 5\r\nContent-Length: 9\r\n\r\n" + good)}},
		{name: "length-negative", ends: "failed", reply: reply{bytes: say(head + "Content-Length: -1\r\n\r\n" + good)}},
		{name: "length-2^63", ends: "failed", reply: reply{bytes: say(head + "Content-Length: 9223372036854775807\r\n\r\ndata: x\n\n")}},
		{name: "length-beyond", ends: "failed", reply: reply{bytes: say(head + "Content-Length: 99999999999999999999999\r\n\r\n" + good)}},
		{name: "length-short", reply: reply{bytes: say(head + "Content-Length: 20\r\n\r\n" + good)}},
		{name: "length-long", ends: "", reply: reply{bytes: say(head + "Content-Length: 9999\r\n\r\n" + good)}},
		{name: "length-and-chunks", reply: reply{bytes: say(head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")}},
		{name: "encoding-unknown", reply: reply{bytes: say(head + "Transfer-Encoding: gzip\r\n\r\n" + good)}},
		{name: "chunk-negative", ends: "failed", reply: reply{bytes: chunks("-5\r\nhello\r\n")}},
		{name: "chunk-2^64", ends: "failed", reply: reply{bytes: chunks("ffffffffffffffffff\r\nhello")}},
		{name: "chunk-2^63", ends: "failed", reply: reply{bytes: chunks("7fffffffffffffff\r\nhello")}},
		{name: "chunk-not-hex", ends: "failed", reply: reply{bytes: chunks("xyz\r\nhello\r\n")}},
		{name: "chunk-no-newline", ends: "failed", reply: reply{bytes: chunks("5\r\nhelloXX5\r\nhello\r\n")}},
		{name: "chunk-zeros", ends: "failed", reply: reply{bytes: endless(head+"Transfer-Encoding: chunked\r\n\r\n", "0")}},
		{name: "chunk-extension", ends: "failed", reply: reply{bytes: endless(head+"Transfer-Encoding: chunked\r\n\r\n5;", "x")}},
		{name: "chunk-extensions", reply: reply{bytes: endless(head+"Transfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat("e", 2000)+"\r\n\n\r\n")}},
		{name: "chunks-of-a-byte", reply: reply{bytes: endless(head+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n\n\r\n")}},
		{name: "trailers-flood", reply: reply{bytes: endless(head+"Transfer-Encoding: chunked\r\n\r\n"+chunk(good)+"0\r\n", "X-A: b\r\n")}},
		{name: "trailers-drip", reply: reply{bytes: func(c net.Conn) {
			_ = drip(head+"Transfer-Encoding: chunked\r\n\r\n"+chunk(good)+"0\r\n", "X-A: b\r\n")(c)
		}}},
		{name: "100-flood", ends: "failed", reply: reply{bytes: endless("", "HTTP/1.1 100 Continue\r\n\r\n")}},
		{name: "100-drip", ends: "failed", reply: reply{bytes: func(c net.Conn) { _ = drip("", "HTTP/1.1 100 Continue\r\n\r\n")(c) }}},
		{name: "100-silent", ends: "failed", reply: reply{bytes: say("HTTP/1.1 100 Continue\r\n\r\n"), hold: true}},
		{name: "101-open", ends: "failed", reply: reply{bytes: say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), hold: true}},
		{name: "101-flood", ends: "failed", reply: reply{bytes: endless("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "x")}},
		{name: "101-drip", ends: "failed", reply: reply{bytes: func(c net.Conn) {
			_ = drip("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "x")(c)
		}}},
		{name: "103-large", reply: reply{bytes: say("HTTP/1.1 103 Early Hints\r\nLink: "+strings.Repeat("x", 4<<20)+"\r\n\r\n", sized)}},
		{name: "two-answers", ends: "ok", reply: reply{bytes: say(sized + sized)}},
		{name: "garbage-after", ends: "ok", reply: reply{bytes: say(sized + noise(1<<20))}},
		{name: "204-with-a-body", ends: "failed", reply: reply{bytes: say("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello")}},
		{name: "304-with-a-body", ends: "failed", reply: reply{bytes: say("HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\nhello")}},
		{name: "until-close-flood", reply: reply{bytes: endless("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", ": x\n\n")}},
	}
	return list
}

// endless writes a beginning, and then a piece many times.
func endless(before, piece string) func(net.Conn) {
	return func(c net.Conn) { _ = flood(before, piece)(c) }
}

func chunks(s string) func(net.Conn) {
	return say(head + "Transfer-Encoding: chunked\r\n\r\n" + chunk("data: "+delta+"\n\n") + s)
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// framed2 makes an answer of frames.
func framed(name, ends string, frames func(f wire, id uint32)) hostile {
	return hostile{name: name, ends: ends, reply: reply{frames: frames}}
}

// waiting is an answer of frames after which the connection stays open.
func waiting(name, ends string, frames func(f wire, id uint32)) hostile {
	h := framed(name, ends, frames)
	h.reply.hold = true
	return h
}

// often calls write until it fails, as many times as fill what an answer without an end
// may have.
func often(size int, write func() error) {
	for n := 0; n < much()/4; n += size {
		if write() != nil {
			return
		}
	}
}

// slowly calls write until it fails.
func slowly(write func() error) {
	for range time.NewTicker(20 * time.Millisecond).C {
		if write() != nil {
			return
		}
	}
}

func headers(f wire, id uint32, end bool, pairs ...string) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: fields(pairs...), EndHeaders: true, EndStream: end})
}

// begin writes the head of a good answer.
func begin(f wire, id uint32) {
	headers(f, id, false, ":status", "200", "content-type", "text/event-stream")
}

// frames2 is the table of answers that are wrong as HTTP/2.
func frames2() []hostile {
	event := []byte("data: " + delta + "\n\n")
	block := fields(":status", "200", "content-type", "text/event-stream")
	return append([]hostile{
		framed("nothing", "failed", func(wire, uint32) {}),
		waiting("silence", "failed", func(wire, uint32) {}),
		framed("garbage", "failed", func(f wire, _ uint32) { raw(f, noise(8<<10)) }),
		framed("http-1.1", "failed", func(f wire, _ uint32) { raw(f, "HTTP/1.1 400 Bad Request\r\n\r\n") }),
		framed("frame-too-long", "failed", func(f wire, id uint32) { raw(f, "\xff\xff\xff\x00\x00"+number(id)+noise(1<<20)) }),
		waiting("frame-of-nothing", "failed", func(f wire, id uint32) { raw(f, "\x00\x40\x00\x00\x00"+number(id)) }),
		framed("go-away", "failed", func(f wire, _ uint32) {
			_ = f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte(escape+secret))
		}),
		waiting("go-away-open", "", func(f wire, id uint32) { _ = f.WriteGoAway(id, http2.ErrCodeNo, nil) }),
		waiting("reset", "failed", func(f wire, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeCancel) }),
		waiting("reset-refused", "failed", func(f wire, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream) }),
		waiting("reset-unknown-code", "failed", func(f wire, id uint32) { _ = f.WriteRSTStream(id, 0xffffffff) }),
		waiting("reset-after-data", "failed", func(f wire, id uint32) {
			begin(f, id)
			_ = f.WriteData(id, false, event)
			_ = f.WriteRSTStream(id, http2.ErrCodeInternal)
		}),
		framed("data-before-headers", "failed", func(f wire, id uint32) { _ = f.WriteData(id, true, event) }),
		waiting("data-on-another-stream", "failed", func(f wire, id uint32) { _ = f.WriteData(id+2, true, event) }),
		waiting("data-on-stream-0", "failed", func(f wire, _ uint32) { raw(f, "\x00\x00\x01\x00\x00\x00\x00\x00\x00x") }),
		waiting("headers-on-another-stream", "failed", func(f wire, id uint32) { begin(f, id+2) }),
		waiting("push", "failed", func(f wire, id uint32) {
			_ = f.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: block, EndHeaders: true})
		}),
		framed("continuation-flood", "failed", func(f wire, id uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block})
			often(16<<10, func() error { return f.WriteContinuation(id, false, fields("x-a", strings.Repeat("x", 8000))) })
		}),
		framed("continuation-empty", "failed", func(f wire, id uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block})
			often(9, func() error { return f.WriteContinuation(id, false, nil) })
		}),
		framed("compression-bomb", "failed", func(f wire, id uint32) {
			// one entry of the table, and then references to it, of one byte each
			bomb := string(fields(":status", "200", "x-bomb", strings.Repeat("b", 3900))) + strings.Repeat("\xbe", 16000-3950)
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(bomb)})
			often(16000, func() error { return f.WriteContinuation(id, false, []byte(strings.Repeat("\xbe", 16000))) })
		}),
		waiting("compression-garbage", "failed", func(f wire, id uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(noise(500)), EndHeaders: true})
		}),
		waiting("header-upper-case", "failed", func(f wire, id uint32) { headers(f, id, true, ":status", "200", "X-A", "b") }),
		waiting("header-escapes", "", func(f wire, id uint32) { headers(f, id, true, ":status", "500", "x-a", escape) }),
		waiting("status-missing", "failed", func(f wire, id uint32) { headers(f, id, true, "x-a", "b") }),
		waiting("status-twice", "failed", func(f wire, id uint32) { headers(f, id, true, ":status", "200", ":status", "500") }),
		waiting("status-not-a-number", "failed", func(f wire, id uint32) { headers(f, id, true, ":status", escape) }),
		waiting("status-101", "failed", func(f wire, id uint32) { headers(f, id, false, ":status", "101") }),
		waiting("length-short", "", func(f wire, id uint32) {
			headers(f, id, false, ":status", "200", "content-length", "3")
			_ = f.WriteData(id, true, event)
		}),
		waiting("trailers-without-end", "failed", func(f wire, id uint32) { begin(f, id); headers(f, id, false, "x-a", "b") }),
	}, floods(event)...)
}

// floods are answers of frames that do not end.
func floods(event []byte) []hostile {
	each := map[string]func(f wire, id uint32) error{
		"settings":      func(f wire, _ uint32) error { return f.WriteSettings() },
		"settings-acks": func(f wire, _ uint32) error { return f.WriteSettingsAck() },
		"pings":         func(f wire, _ uint32) error { return f.WritePing(false, [8]byte{}) },
		"windows":       func(f wire, _ uint32) error { return f.WriteWindowUpdate(0, 1) },
		"priorities": func(f wire, id uint32) error {
			return f.WritePriority(id, http2.PriorityParam{StreamDep: 0, Weight: 1})
		},
		"unknown-frames": func(f wire, id uint32) error { return f.WriteRawFrame(0xbd, 0, id, nil) },
		"early-hints": func(f wire, id uint32) error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: fields(":status", "103", "link", "x"), EndHeaders: true})
		},
		"resets": func(f wire, id uint32) error { return f.WriteRSTStream(id, http2.ErrCodeCancel) },
	}
	var list []hostile
	for _, name := range []string{"settings", "settings-acks", "pings", "windows", "priorities", "unknown-frames", "early-hints", "resets"} {
		write := each[name]
		list = append(list,
			framed(name+"-flood", "failed", func(f wire, id uint32) { often(64, func() error { return write(f, id) }) }),
			framed(name+"-drip", "failed", func(f wire, id uint32) { slowly(func() error { return write(f, id) }) }))
	}
	return append(list,
		framed("data-empty-flood", "failed", func(f wire, id uint32) {
			begin(f, id)
			often(9, func() error { return f.WriteData(id, false, nil) })
		}),
		framed("data-padding-flood", "", func(f wire, id uint32) {
			begin(f, id)
			often(265, func() error { return f.WriteDataPadded(id, false, nil, make([]byte, 255)) })
		}),
		framed("data-without-window", "", func(f wire, id uint32) {
			begin(f, id)
			often(len(event), func() error { return f.WriteData(id, false, event) })
		}),
		waiting("settings-no-streams", "failed", func(f wire, _ uint32) {
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		}),
		waiting("settings-impossible", "failed", func(f wire, _ uint32) {
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<32 - 1}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1})
		}),
		waiting("window-overflow", "failed", func(f wire, id uint32) {
			_ = f.WriteWindowUpdate(id, 1<<31-1)
			_ = f.WriteWindowUpdate(id, 1<<31-1)
		}),
	)
}

func number(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

// A wire is a connection frame by frame, and byte by byte.
type wire struct {
	*http2.Framer
	c net.Conn
}

func raw(f wire, s string) { _, _ = io.WriteString(f.c, s) }
