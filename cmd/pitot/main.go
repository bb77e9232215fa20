// Pitot measures LLM serving endpoints.
package main

import "github.com/pitot-bench/pitot/internal/cli"

func main() { cli.Main() }
