package workload

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNoTemplate is that of a tokenizer without a chat template.
var ErrNoTemplate = errors.New("the tokenizer has no chat template to render prompts with")

// UserTurn is text as a model gets it that a user said it to: one message, rendered
// with the beginning of the answer.
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
