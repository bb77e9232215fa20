package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// The functions here check a file and report its problems: nats.go reads it when it connects,
// and its errors then do not name it.

// credentials is the option for a file with a JWT and a seed.
func credentials(name string) (nats.Option, error) {
	content, err := files.ReadSmall(name)
	if err != nil {
		return nil, err
	}
	if token, err := nkeys.ParseDecoratedJWT(content); err != nil || strings.Count(token, ".") != 2 {
		return nil, errors.New("it has no JWT of a user")
	}
	if _, err := nkeys.ParseDecoratedUserNKey(content); err != nil {
		return nil, errNoSeed
	}
	return nats.UserCredentials(name), nil
}

// seed is the option for a file with the seed of an nkey.
func seed(name string) (nats.Option, error) {
	content, err := files.ReadSmall(name)
	if err != nil {
		return nil, err
	}
	if _, err := nkeys.ParseDecoratedUserNKey(content); err != nil {
		return nil, errNoSeed
	}
	return nats.NkeyOptionFromSeed(name)
}

var errNoSeed = errors.New("it has no seed of a user, which begins with SU")

// authority is the option for a file of certificates.
func authority(name string) (nats.Option, error) {
	content, err := files.ReadSmall(name)
	if err != nil {
		return nil, err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(content) {
		return nil, errors.New("it has no certificate in PEM")
	}
	return nats.RootCAs(name), nil
}

// certificate is the option for a client's certificate.
func certificate(cert, key string) (nats.Option, error) {
	if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
		return nil, err
	}
	return nats.ClientCert(cert, key), nil
}
