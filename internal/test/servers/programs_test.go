package servers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// llama is llama.cpp's server with a model of random weights.
func llama(t *testing.T) string {
	t.Helper()
	p := port(t)
	out := start(t, part(t, "venv/bin/python"), filepath.Join(scripts, "llama.py"), part(t, "tiny.gguf"), fmt.Sprint(p))
	answers(t, local(p)+"/v1/models", out)
	return local(p)
}

// vllmServer is vLLM on the CPU with a model of random weights.
func vllmServer(t *testing.T) string {
	t.Helper()
	p, program := port(t), part(t, "vllm/bin/vllm")
	t.Setenv("VLLM_CPU_KVCACHE_SPACE", "1")
	t.Setenv("VLLM_CPU_OMP_THREADS_BIND", "nobind")
	t.Setenv("OMP_NUM_THREADS", "1")
	out := start(t, program, "serve", part(t, "tinyhf"), "--port", fmt.Sprint(p), "--max-model-len", "2048", "--enforce-eager", "--served-model-name", "tiny")
	answers(t, local(p)+"/v1/models", out)
	return local(p)
}

// transformers is `transformers serve`.
func transformers(t *testing.T) string {
	t.Helper()
	p, program := port(t), part(t, "vllm/bin/transformers")
	t.Setenv("OMP_NUM_THREADS", "1")
	out := start(t, program, "serve", part(t, "tinyhf"), "--port", fmt.Sprint(p))
	answers(t, local(p)+"/v1/models", out)
	return local(p)
}

// sglangRouter is sglang-router before two engines.
func sglangRouter(t *testing.T) string {
	t.Helper()
	return router(t, part(t, "venv/bin/sglang-router"), "launch")
}

// vllmRouter is vllm-router before two engines.
func vllmRouter(t *testing.T) string {
	t.Helper()
	return router(t, part(t, "venv/bin/vllm-router"))
}

func router(t *testing.T, program string, args ...string) string {
	t.Helper()
	p := port(t)
	args = append(args, "--host", "127.0.0.1", "--port", fmt.Sprint(p), "--prometheus-port", fmt.Sprint(port(t)),
		"--policy", "round_robin", "--worker-urls", engine(t), engine(t))
	out := start(t, program, args...)
	answers(t, local(p)+"/v1/models", out)
	return local(p)
}

const nginxConfig = `daemon off; pid DIR/pid; error_log DIR/errors;
events {}
http {
	access_log off;
	client_body_temp_path DIR/b; proxy_temp_path DIR/p; fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s;
	server {
		listen 127.0.0.1:PORT LISTEN;
		SERVER
		location / { proxy_pass BACKEND; LOCATION }
	}
}
`

// A proxy is nginx or HAProxy before an engine.
type proxy struct {
	tls              bool
	backend          string // instead of an engine
	listen           string
	server, location string // settings of these parts
}

func (x proxy) upstream(t *testing.T) string {
	t.Helper()
	if x.backend != "" {
		return x.backend
	}
	return engine(t)
}

// nginx starts nginx and returns its URL and the file of its certificate.
func nginx(t *testing.T, x proxy) (url, ca string) {
	t.Helper()
	program, p := part(t, "debian/usr/sbin/nginx"), port(t)
	url, server, listen := local(p), x.server, x.listen
	if x.tls {
		var key string
		ca, key = certificate(t)
		url, listen = fmt.Sprintf("https://127.0.0.1:%d", p), "ssl "+listen
		server += fmt.Sprintf("ssl_certificate %s; ssl_certificate_key %s;", ca, key)
	}
	dir := t.TempDir()
	file := config(t, nginxConfig, map[string]string{
		"DIR": dir, "PORT": fmt.Sprint(p), "LISTEN": listen, "SERVER": server, "BACKEND": x.upstream(t), "LOCATION": x.location,
	})
	listens(t, p, start(t, program, "-p", dir, "-c", file))
	return url, ca
}

const haproxyConfig = `defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
frontend in
  bind 127.0.0.1:PORT LISTEN
  default_backend out
backend out
  SERVER
  server a BACKEND
`

// haproxy starts HAProxy and returns its URL and the file of its certificate.
func haproxy(t *testing.T, x proxy) (url, ca string) {
	t.Helper()
	program, p := part(t, "debian/usr/sbin/haproxy"), port(t)
	url, listen := local(p), x.listen
	if x.tls {
		cert, key := certificate(t)
		both := filepath.Join(t.TempDir(), "both.pem")
		if err := os.WriteFile(both, append(read(t, cert), read(t, key)...), 0o600); err != nil {
			t.Fatal(err)
		}
		url, listen, ca = fmt.Sprintf("https://127.0.0.1:%d", p), "ssl crt "+both+" "+listen, cert
	}
	file := config(t, haproxyConfig, map[string]string{
		"PORT": fmt.Sprint(p), "LISTEN": listen, "SERVER": x.server, "BACKEND": x.upstream(t)[len("http://"):],
	})
	listens(t, p, start(t, program, "-f", file))
	return url, ca
}

// listens waits until somebody listens at a port.
func listens(t *testing.T, port int, out *buffer) {
	t.Helper()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(patience):
			t.Fatalf("nobody listens: %s", tail(out.String()))
		case <-tick.C:
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// certificate makes one for the loopback, signed by itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
