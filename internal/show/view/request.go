package view

// A Request is one request in full.
type Request struct {
	Index        int    `json:"index"`
	ID           string `json:"id"`
	Tenant       string `json:"tenant"`
	Session      string `json:"session"`
	Turn         int    `json:"turn"`
	PromptTokens int    `json:"prompt_tokens"`
	WantTokens   int    `json:"want_tokens"`
	OutputTokens int    `json:"output_tokens"`
	Cached       int    `json:"cached_tokens"`
	FinishReason string `json:"finish_reason"`
	Status       int    `json:"status"`
	Class        string `json:"class"`
	Failure      string `json:"failure"` // the class in words
	Error        string `json:"error"`
	Text         string `json:"text"`
	Stamps       string `json:"stamps"`
	// Instants are its own, in order, with their names in words; seconds since the start of the run.
	Instants []Moment `json:"instants"`
	// TTFT, TPOT and E2EL are by Pitot's definitions, from the first byte sent.
	TTFT *float64 `json:"ttft"`
	TPOT *float64 `json:"tpot"`
	E2EL *float64 `json:"e2el"`
	// Chunks are the first 20000 chunks of its answer, of All.
	Chunks []Chunk `json:"chunks"`
	All    int     `json:"all"`
}

// A Moment is an instant with its name.
type Moment struct {
	Name  string  `json:"name"` // due, free, released, dialed, connected, sent, first_byte, first_token, done
	Title string  `json:"title"`
	At    float64 `json:"at"`
}

// A Chunk is one streamed event of an answer.
type Chunk struct {
	At     float64 `json:"at"`
	Slack  float64 `json:"slack"` // by which it may have come earlier
	Tokens int     `json:"tokens"`
	Kind   string  `json:"kind"` // text, reasoning, tool call, role, finish; with +: more than one
}

// Records are a page of raw records: the rows of a table.
type Records struct {
	Total int       `json:"total"`
	Rows  []Request `json:"rows"` // without Text and Chunks
}
