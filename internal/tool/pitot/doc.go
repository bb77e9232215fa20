// Package pitot compiles Pitot's own command lines and settings files to a Spec.
//
//	flags, settings file ──> tree of nodes ──> + defaults ──> decoded: plan.Spec
//
// A flag has the path of its setting in a tag; a key of a file is the name of a flag. The
// compiler remembers the user's name of each setting, so that problems from any package
// are reported under flags and at places of the file.
package pitot
