//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups here, so what a launcher started is left to it.
func ownGroup(*exec.Cmd) {}

// terminateGroup asks the program to end.
func terminateGroup(p *os.Process) error { return p.Signal(os.Interrupt) }

// killGroup ends the program.
func killGroup(p *os.Process) {
	_ = p.Kill() // fails only where it is gone
}
