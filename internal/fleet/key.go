package fleet

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
)

// A Key signs the deliveries of a worker. Its public half is the ID of the worker: everybody in a fleet can send
// anything, and with the ID one can verify that a worker sent it.
type Key struct{ private ed25519.PrivateKey }

// NewKey makes a random Key.
func NewKey() Key {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err) // the system has no randomness
	}
	return Key{private}
}

// ID is that of the worker: its public key in hexadecimal.
func (k Key) ID() string { return hex.EncodeToString(k.private.Public().(ed25519.PublicKey)) }

// Sign signs a digest.
func (k Key) Sign(digest []byte) string {
	return base64.RawStdEncoding.EncodeToString(ed25519.Sign(k.private, digest))
}

// Signed reports whether the worker of an ID has signed a digest.
func Signed(id string, digest []byte, signature string) bool {
	public, err := hex.DecodeString(id)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return false
	}
	text, err := base64.RawStdEncoding.DecodeString(signature)
	return err == nil && ed25519.Verify(public, digest, text)
}
