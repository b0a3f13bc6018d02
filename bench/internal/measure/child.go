package measure

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/go-json-experiment/json"
)

// Ask starts this program again, for what must be measured in a process of its own: name is its first argument, and the
// second has as JSON what it is to do. What the child found comes as JSON from its standard output.
func Ask[Out any](ctx context.Context, name string, in any) (out Out, err error) {
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	arg, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	var stdout bytes.Buffer
	command := exec.CommandContext(ctx, self, name, string(arg))
	command.Stdout, command.Stderr = &stdout, os.Stderr
	if err := command.Run(); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, json.Unmarshal(stdout.Bytes(), &out)
}

// Answer does what a child is there for. args are the program's, without its name.
func Answer[In, Out any](ctx context.Context, w io.Writer, args []string, work func(context.Context, In) (Out, error)) error {
	if len(args) != 2 {
		return fmt.Errorf("wants one argument, JSON, and has %d", len(args)-1)
	}
	var in In
	if err := json.Unmarshal([]byte(args[1]), &in); err != nil {
		return err
	}
	out, err := work(ctx, in)
	if err != nil {
		return err
	}
	return json.MarshalWrite(w, out)
}
