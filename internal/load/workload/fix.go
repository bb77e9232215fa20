package workload

import "context"

// A fixer turns token ids into text with the same number of tokens. Decoding and
// encoding may give other ids, more or fewer: then the encoding is cut or filled
// with random ids, up to ten times. Only the filling draws, so everything up to the
// first filling can run in parallel.
type fixer struct {
	tok   Tokenizer // nil: ids stay ids, always exact
	rng   integers
	vocab int64
}

// integers draws uniformly from [lo, hi).
type integers interface{ Integers(lo, hi int64) int64 }

// A sequence is a prompt in progress towards its length.
type sequence struct {
	ids   []int32
	text  string
	want  int
	tries int  // remaining corrections
	done  bool // text and ids agree
}

const corrections = 10

// start proceeds as far as possible without a draw towards a length of want.
func (f fixer) start(ctx context.Context, ids []int32, want int) (sequence, error) {
	s := sequence{ids: ids, want: want, tries: corrections, done: f.tok == nil}
	for !s.done {
		if err := f.again(ctx, &s); err != nil || len(s.ids) < s.want {
			return s, err
		}
	}
	return s, nil
}

// finish completes s, drawing as needed.
func (f fixer) finish(ctx context.Context, s *sequence) error {
	for !s.done {
		for len(s.ids) < s.want {
			s.ids = append(s.ids, int32(f.rng.Integers(0, f.vocab)))
		}
		if err := f.again(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// again decodes and encodes s once. A wrong length costs a correction, and too long
// an encoding is cut; without remaining corrections any length is accepted.
func (f fixer) again(ctx context.Context, s *sequence) (err error) {
	if s.text, err = f.tok.Decode(ctx, s.ids); err != nil {
		return err
	}
	if s.ids, err = f.tok.Encode(ctx, s.text, false); err != nil {
		return err
	}
	if len(s.ids) == s.want || s.tries == 0 {
		s.done = true
		return nil
	}
	s.tries--
	s.ids = s.ids[:min(len(s.ids), s.want)]
	return nil
}
