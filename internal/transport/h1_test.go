package transport

import (
	"bufio"
	"io"
	"net/http"
	"testing"
)

// What a server says on an idle connection is no answer to the next request.
func TestAnIdleConnectionThatSpokeIsNotUsed(t *testing.T) {
	for _, after := range []string{"", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"} {
		l, _ := listen(t, false)
		defer l.Close()
		spoken := make(chan struct{}, 2)
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				go func() {
					defer conn.Close()
					requests := bufio.NewReader(conn)
					for {
						if _, err := http.ReadRequest(requests); err != nil {
							return
						}
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
						_, _ = io.WriteString(conn, after)
						spoken <- struct{}{}
					}
				}()
			}
		}()
		c := New(Config{})
		for i := range 2 {
			var r tape
			got, err := c.Do(t.Context(), &Request{Method: "GET", URL: "http://" + l.Addr().String()}, &r)
			if fresh := got.Dialed != Never; err != nil || r.status != 200 || fresh != (i == 0 || after != "") {
				t.Errorf("behind the answer %q, request %d: error %v, status %d, %+v", after, i, err, r.status, got)
			}
			<-spoken
		}
		c.Close()
	}
}
