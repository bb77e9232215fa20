// Package template renders chat templates: from messages to the text that a model
// gets.
package template
