// Package bus connects a controller and its workers to a NATS server, and carries the questions
// and replies between them as JSON.
//
// A Bus is one connection. The first attempt to connect either succeeds or fails at once with an error of one line;
// later the connection is restored for as long as it takes, and Up returns since when it has been up or down. Ask
// sends a question to one subject and returns its reply, RequestAll collects the replies of everybody, Answer replies.
// Whoever is asked can be absent (ErrGone), or be silent (ErrSilent): the caller decides how to handle that.
//
// Texts from the network never reach a caller as they are: errors are one clean, short line without
// any token or password. Everything that is decoded is limited in size and nesting.
//
// Authentication and encryption are those of NATS: a token or user and password in the URL, a credentials file, an
// nkey, TLS. Private reports whether others can read messages.
//
// # Server
//
// StartServer runs a NATS server with JetStream inside this process.
//
// A fleet on one machine, or a small one, needs no other: nothing has to be installed. The server listens on one
// address and nowhere else, which must be a loopback address unless clients have to authenticate. Streams are
// stored in a folder and survive a restart. nats-server does authentication and encryption; this package only fills
// its options.
package bus
