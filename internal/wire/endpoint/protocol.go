package endpoint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A Protocol is a way of asking for text, or for what can be made of it.
type Protocol string

// The protocols.
const (
	Completions   Protocol = "completions"   // POST /v1/completions
	Chat          Protocol = "chat"          // POST /v1/chat/completions
	Responses     Protocol = "responses"     // POST /v1/responses, OpenAI's newer one
	Messages      Protocol = "messages"      // POST /v1/messages, Anthropic's
	Generate      Protocol = "generate"      // POST /generate, SGLang's own
	TGI           Protocol = "tgi"           // POST /generate_stream or /generate of text-generation-inference
	TRT           Protocol = "trt"           // POST /v2/models/ensemble/generate_stream of Triton with TensorRT-LLM
	Truss         Protocol = "truss"         // POST /v1/models/model:predict
	Embeddings    Protocol = "embeddings"    // POST /v1/embeddings
	Pooling       Protocol = "pooling"       // POST /pooling, vLLM's own
	Rerank        Protocol = "rerank"        // POST /v1/rerank
	Transcription Protocol = "transcription" // POST /v1/audio/transcriptions, multipart
)

// A grammar is what tells one protocol from another: how a request is written and
// how its answer is read.
type grammar struct {
	path           string // where it is usually served
	unstreamedPath string // where answers that are not streamed are, if elsewhere

	// Of the body: the fields that are alike for all requests, the prompt, and the
	// names of the fields for a request's own model and its output length. The
	// length, and parameters, stand in the object nest, if it has a name.
	fixed       func(o *Options) map[string]any
	prompt      func(b *bodyWriter, o *Options, req *workload.Request, free func(string) bool) error
	model       string
	limit, nest string
	parameters  func(o *Options) map[string]any
	takes       inputKinds        // in addition to text
	multipart   bool              // the fields are parts of a form
	header      map[string]string // of every request

	// Of the answer. usual names what reads the usual form of an event without allocating, if
	// something does; event reads all forms, answer an answer that is not streamed.
	usual  eventForm
	event  func(data []byte) (delta, error)
	answer func(data []byte) (delta, error)
	ends   string // what closes a stream; empty: nothing does
	repeat bool   // each event has the text from its beginning
	silent bool   // an answer has no text
}

// grammars has all protocols.
var grammars = map[Protocol]*grammar{
	Completions: {
		path: "/v1/completions", fixed: openAIFields, prompt: textPrompt("prompt"), model: "model", limit: "max_tokens",
		takes: tokenIDs,
		usual: usualCompletion, event: of(completion), answer: of(completion), ends: "[DONE]",
	},
	Chat: {
		path: "/v1/chat/completions", fixed: openAIFields, prompt: chatPrompt, model: "model", limit: "max_completion_tokens",
		takes: messages | parts | pictures | otherMedia,
		usual: usualChat, event: of(chatEvent), answer: of(chatAnswer), ends: "[DONE]",
	},
	Responses: {
		path: "/v1/responses", fixed: plainFields, prompt: responsesPrompt, model: "model", limit: "max_output_tokens",
		takes: messages | pictures,
		event: of(responsesEvent), answer: of(response), ends: "response.completed",
	},
	Messages: {
		path: "/v1/messages", fixed: plainFields, prompt: messagesPrompt, model: "model", limit: "max_tokens",
		takes:  messages | pictures,
		header: map[string]string{"Anthropic-Version": "2023-06-01"},
		event:  of(messagesEvent), answer: of(messageDelta), ends: "message_stop",
	},
	Generate: {
		path: "/generate", fixed: streamField, prompt: generatePrompt, model: "lora_path",
		takes: tokenIDs | pictures | otherMedia,
		limit: "max_new_tokens", nest: "sampling_params", parameters: generateParameters,
		usual: usualGenerate, event: of(generated), answer: of(generated), ends: "[DONE]", repeat: true,
	},
	TGI: {
		path: "/generate_stream", unstreamedPath: "/generate", fixed: noFields, prompt: textPrompt("inputs"), model: "adapter_id",
		limit: "max_new_tokens", nest: "parameters", parameters: tgiParameters,
		event: of(tgiEvent), answer: decodeTGI, ends: "generated_text",
	},
	TRT: {
		path: "/v2/models/ensemble/generate_stream", unstreamedPath: "/v2/models/ensemble/generate", fixed: streamField,
		prompt: trtPrompt, limit: "max_tokens", event: of(trtEvent), answer: of(trtEvent), repeat: true,
	},
	Truss: {
		path: "/v1/models/model:predict", fixed: openAIFields, prompt: textPrompt("prompt"),
		model: "model", limit: "max_tokens", takes: tokenIDs,
		usual: usualCompletion, event: of(completion), answer: of(completion), ends: "[DONE]",
	},
	Embeddings: {
		path: "/v1/embeddings", fixed: modelField, prompt: inputPrompt, model: "model",
		takes:  tokenIDs | messages | parts | pictures | otherMedia | batch,
		answer: decodePooling, silent: true,
	},
	Pooling: {
		path: "/pooling", fixed: modelField, prompt: inputPrompt, model: "model",
		takes:  tokenIDs | messages | parts | pictures | otherMedia | batch,
		answer: decodePooling, silent: true,
	},
	Rerank: {
		path: "/v1/rerank", fixed: modelField, prompt: rerankPrompt, model: "model",
		takes:  batch | pairs,
		answer: decodePooling, silent: true,
	},
	Transcription: {
		path: "/v1/audio/transcriptions", fixed: transcriptionFields, prompt: soundPrompt,
		model: "model", limit: "max_completion_tokens", takes: otherMedia | oneSound,
		multipart: true, event: of(transcriptionEvent), answer: decodeTranscription, ends: "[DONE]",
	},
}

// Protocols are all protocols by name.
func Protocols() []Protocol { return slices.Sorted(maps.Keys(grammars)) }

// grammar is that of p, an empty one if there is no such protocol.
func (p Protocol) grammar() *grammar {
	if g := grammars[p]; g != nil {
		return g
	}
	return new(grammar)
}

// Nest is the field of a request with the object of sampling parameters, empty where they
// are members of the request itself.
func (p Protocol) Nest() string { return p.grammar().nest }

// Path is where the protocol is usually served.
func (p Protocol) Path() string { return p.PathOf(true) }

// PathOf is where the protocol is usually served, for streams or for unstreamed answers.
func (p Protocol) PathOf(stream bool) string {
	g := p.grammar()
	if !stream && g.unstreamedPath != "" {
		return g.unstreamedPath
	}
	return g.path
}

// Silent tells whether the answers of the protocol have no text, so that there is
// nothing to stream: embeddings, scores.
func (p Protocol) Silent() bool { return p.grammar().silent }

// TakesTokens tells whether a prompt can be token ids.
func (p Protocol) TakesTokens() bool { return p.grammar().takes&tokenIDs != 0 }

// TakesMessages tells whether a request can be a chat.
func (p Protocol) TakesMessages() bool { return p.grammar().takes&messages != 0 }

// NamesModel tells whether a request names the model that is asked.
func (p Protocol) NamesModel() bool { return p.grammar().model == "model" }

// Takes says what of a request the protocol cannot say, as far as its shape tells.
func (p Protocol) Takes(req *workload.Request) error {
	if g := grammars[p]; g != nil {
		return g.takes.check(req)
	}
	return fmt.Errorf("protocol %q: must be one of %v", p, Protocols())
}
