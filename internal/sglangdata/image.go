package sglangdata

// Image is the dataset image: text of random ids with pictures of noise.
type Image struct {
	Requests    int     // --num-prompts
	Count       int     // --image-count
	RandomCount bool    // --random-image-count: 1 to Count
	Input       int     // --random-input-len
	Output      int     // --random-output-len
	Ratio       float64 // --random-range-ratio
	Content     string  // --image-content: blank, or noise
	Format      string  // --image-format
	Resolution  string  // --image-resolution
	Backend     string  // --backend
	// Pad is the id that stands for a picture in a prompt, which texts never contain;
	// nil if not known.
	Pad *int32
}
