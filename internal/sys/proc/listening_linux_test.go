package proc

import (
	"net"
	"os"
	"slices"
	"testing"
)

// The kernel names the sockets that its tables have, of both families, and no others.
func TestListeningIsAsListed(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		c, err := net.Dial("tcp", l.Addr().String()) // which does not listen
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := listening(port)
		if err != nil {
			t.Skip(err)
		}
		if want := listed(port); !slices.Equal(got, want) || len(got) != 1 {
			t.Errorf("%s: %v, the tables have %v", address, got, want)
		}
	}
}

func TestNothingListensOnAClosedPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	if got, err := listening(port); err == nil && got != nil {
		t.Errorf("%v", got)
	}
}

// A listener that is opened behind many other files is found too.
func TestAListenerBehindManyFiles(t *testing.T) {
	for range 2 * firstFiles {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	if got, found := ListenerOn(t.Context(), listen(t)); !found || got.PID != os.Getpid() {
		t.Errorf("%+v, %v", got, found)
	}
}
