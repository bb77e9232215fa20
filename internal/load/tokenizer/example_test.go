package tokenizer_test

import (
	"fmt"
	"os"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
)

func ExampleTokenizer() {
	tok, err := tokenizer.Load(os.DirFS("testdata"), "llama3")
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := tok.Encode("The pump runs.<|eot_id|>", true)
	fmt.Println(ids)
	fmt.Println(tok.Decode(ids, false))
	fmt.Println(tok.Decode(ids, true))
	fmt.Println(tok.VocabSize(), "tokens,", tok.NumSpecial(), "added to a text")
	// Output:
	// [2000 1897 1423 1048 13 2002]
	// <|begin_of_text|>The pump runs.<|eot_id|>
	// The pump runs.
	// 2000 tokens, 1 added to a text
}

func ExampleParse() {
	_, err := tokenizer.Parse([]byte(`{"version": "1.0", "model": {"type": "WordPiece", "dropout": 0.1}}`), nil)
	fmt.Println(err)
	// Output: tokenizer.json: model: json: unknown field "dropout"
}
