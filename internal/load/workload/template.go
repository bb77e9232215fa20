package workload

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNoTemplate means that a tokenizer has no chat template.
var ErrNoTemplate = errors.New("the tokenizer has no chat template to render prompts with")

// UserTurn renders text as a user's message for the model, with the beginning of
// the answer.
func (v Vocabulary) UserTurn(text string, arguments map[string]json.RawMessage) (string, error) {
	if v.Template == nil {
		return "", ErrNoTemplate
	}
	messages, err := json.Marshal([]map[string]string{{"role": "user", "content": text}})
	if err != nil {
		return "", fmt.Errorf("render a prompt: %w", err)
	}
	out, err := v.Template.Render(messages, TemplateOptions{GenerationPrompt: true, Arguments: arguments})
	if err != nil {
		return "", fmt.Errorf("render a prompt with the chat template: %w", err)
	}
	return out, nil
}
