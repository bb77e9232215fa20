package fleettest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A CA signs certificates.
type CA struct {
	File string // its certificate
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

// NewCA makes a CA that nobody else knows.
func NewCA(t testing.TB) *CA {
	t.Helper()
	ca := &CA{dir: t.TempDir()}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca.cert, ca.key, ca.File, _ = ca.sign(t, "ca", template)
	return ca
}

// Issue makes a certificate for 127.0.0.1 or, if hosts are given, for these, and returns the files of
// it and its key. It is one for servers and clients.
func (ca *CA) Issue(t testing.TB, name string, hosts ...string) (cert, key string) {
	t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if len(hosts) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	_, _, cert, key = ca.sign(t, name, template)
	return cert, key
}

// sign makes a certificate, which the CA signs or, while there is none, which signs itself.
func (ca *CA) sign(t testing.TB, name string, template *x509.Certificate) (cert *x509.Certificate, key *ecdsa.PrivateKey, certFile, keyFile string) {
	t.Helper()
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	parent, signer := ca.cert, ca.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	check(t, err)
	cert, err = x509.ParseCertificate(der)
	check(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	certFile = write(t, ca.dir, name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	keyFile = write(t, ca.dir, name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return cert, key, certFile, keyFile
}

// NewNKey makes an nkey of a user, and returns its public key and the file of its seed.
func NewNKey(t testing.TB) (public, seedFile string) {
	t.Helper()
	user, err := nkeys.CreateUser()
	check(t, err)
	public, err = user.PublicKey()
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	return public, write(t, t.TempDir(), "user.nk", seed)
}

// An Operator signs an account whose users have credentials, for a server that knows the account.
type Operator struct {
	Config  string // lines of the server's configuration
	account nkeys.KeyPair
}

// NewOperator makes an operator with a system account and one with JetStream.
func NewOperator(t testing.TB) *Operator {
	t.Helper()
	operator, err := nkeys.CreateOperator()
	check(t, err)
	o := &Operator{}
	account := func(jetStream bool) (key nkeys.KeyPair, public, token string) {
		key, err := nkeys.CreateAccount()
		check(t, err)
		claims := jwt.NewAccountClaims(publicKey(t, key))
		if jetStream {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
		}
		token, err = claims.Encode(operator)
		check(t, err)
		return key, claims.Subject, token
	}
	_, system, systemToken := account(false)
	var used, usedToken string
	o.account, used, usedToken = account(true)
	claims := jwt.NewOperatorClaims(publicKey(t, operator))
	claims.SystemAccount = system
	token, err := claims.Encode(operator)
	check(t, err)
	o.Config = fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n %s: %s\n %s: %s\n}\n",
		token, system, system, systemToken, used, usedToken)
	return o
}

// User makes a user of the account, and returns the file of the credentials.
func (o *Operator) User(t testing.TB, change func(*jwt.UserClaims)) (credsFile string) {
	t.Helper()
	user, err := nkeys.CreateUser()
	check(t, err)
	claims := jwt.NewUserClaims(publicKey(t, user))
	if change != nil {
		change(claims)
	}
	token, err := claims.Encode(o.account)
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	creds, err := jwt.FormatUserConfig(token, seed)
	check(t, err)
	return write(t, t.TempDir(), "user.creds", creds)
}

func publicKey(t testing.TB, key nkeys.KeyPair) string {
	t.Helper()
	public, err := key.PublicKey()
	check(t, err)
	return public
}

func write(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	name = filepath.Join(dir, name)
	check(t, files.WriteBytes(name, content))
	return name
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
