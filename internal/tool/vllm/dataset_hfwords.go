package vllm

import "strings"

// The words that that tool puts around what a row has. They are part of its prompts:
// with others the lengths would differ.

func zetaPrompt(events, input string) string {
	return strings.Join([]string{
		"### Instruction:",
		"You are a code completion assistant and your task is to analyze user edits and then rewrite an excerpt that the user provides, suggesting the appropriate edits within the excerpt, taking into account the cursor location.",
		"", "### User Edits:",
		"", events,
		"", "### User Excerpt:",
		"", input,
		"", "### Response:",
		"", "",
	}, "\n")
}

func editPrompt(code, change string) string {
	return strings.Join([]string{
		"Given a code file, please apply the change requests and generate the new file.",
		"", "Original file:",
		"```python", code, "```",
		"", "Change request:",
		change,
		"", `Please generate the new code file in the "New file" section below.`,
	}, "\n")
}

// Control tokens that open a transcription.
const (
	whisperPrompt = "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>"
	coherePrompt  = "<|startofcontext|><|startoftranscript|><|emo:undefined|><|en|><|en|><|pnc|><|noitn|><|notimestamp|><|nodiarize|>"
)
