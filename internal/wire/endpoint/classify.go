package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// causes maps errors, by errors.Is and in this order, to classes.
var causes = []struct {
	err   error
	class trace.Class
}{
	{transport.ErrTimeout, trace.Timeout},
	{transport.ErrIdle, trace.Timeout},
	{errMalformed, trace.Malformed},
	{ErrLarge, trace.Malformed},
	{transport.ErrEventTooLarge, trace.Malformed},
	{http.ErrSchemeMismatch, trace.TLS},
	{syscall.EMFILE, trace.Files},
	{syscall.ENFILE, trace.Files},
	{syscall.EADDRNOTAVAIL, trace.Ports},
	{syscall.ECONNREFUSED, trace.Refused},
	{syscall.EHOSTUNREACH, trace.Unreachable},
	{syscall.ENETUNREACH, trace.Unreachable},
	{syscall.ETIMEDOUT, trace.Timeout},
	{syscall.ECONNRESET, trace.Reset},
	{syscall.EPIPE, trace.Reset},
	{context.Canceled, trace.Cancelled},
	{context.DeadlineExceeded, trace.Timeout},
	{io.ErrUnexpectedEOF, trace.Closed},
	{io.EOF, trace.Closed},
	{net.ErrClosed, trace.Closed},
}

// classify finds the class of an error of the transport.
func classify(err error) trace.Class {
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		if strings.HasSuffix(dns.Err, syscall.EMFILE.Error()) || strings.HasSuffix(dns.Err, syscall.ENFILE.Error()) {
			return trace.Files // it keeps the words alone
		}
		return trace.DNS
	}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.class
		}
	}
	if isTLS(err) {
		return trace.TLS
	}
	return byText(err.Error())
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

func isTLS(err error) bool {
	return as[*tls.CertificateVerificationError](err) || as[tls.RecordHeaderError](err) || as[tls.AlertError](err) ||
		as[x509.UnknownAuthorityError](err) || as[x509.HostnameError](err) || as[x509.CertificateInvalidError](err) ||
		strings.Contains(err.Error(), "tls: ")
}

// byText recognises the errors for which net/http has no type.
func byText(text string) trace.Class {
	switch {
	case strings.Contains(text, "malformed"), strings.Contains(text, "invalid byte in chunk length"),
		strings.Contains(text, "chunk"), strings.Contains(text, "unexpected character"),
		strings.Contains(text, "response headers exceeded"):
		return trace.Malformed
	case strings.Contains(text, "server closed idle connection"), strings.Contains(text, "transport connection broken"),
		strings.Contains(text, "stream error"), strings.Contains(text, "GOAWAY"):
		return trace.Closed
	}
	return trace.Other
}
