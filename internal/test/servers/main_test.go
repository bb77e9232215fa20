package servers

import (
	"flag"
	"log"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/pitot-bench/pitot/internal/cli" // a changed program invalidates cached results
	"github.com/pitot-bench/pitot/internal/test/devices"
	"github.com/pitot-bench/pitot/internal/test/program"
)

var installed = flag.String("servers", "", "folder of bench/servers/install.sh")

// pitot is the program as shipped, here the folder of its package's scripts.
var pitot, scripts string

func TestMain(m *testing.M) {
	devices.Main()
	flag.Parse()
	if *installed == "" {
		os.Exit(m.Run()) // which skips
	}
	folder, err := os.MkdirTemp("", "pitot-servers-")
	if err != nil {
		log.Fatal(err)
	}
	code := 1
	if pitot, err = program.Build(folder); err == nil {
		scripts, err = filepath.Abs(filepath.Join("..", "..", "..", "bench", "servers"))
	}
	if err != nil {
		log.Print(err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(folder)
	os.Exit(code)
}
