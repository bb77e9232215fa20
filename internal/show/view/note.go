package view

// A Note is a lab note: Markdown as package note writes it, whose images are its plots.
type Note struct {
	Title    string `json:"title"`
	Markdown string `json:"markdown"`
	// Plots are the names of its images, which have an address each beside the note's.
	Plots []string `json:"plots"`
	// Refused says why there is none; null: there is.
	Refused *Refused `json:"refused"`
	Command string   `json:"command"` // that writes it
}
