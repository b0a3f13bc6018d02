//go:build unix

package mcp

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the program the head of a process group, to which all that it starts belongs.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminateGroup asks the program, and all that it started, to end.
func terminateGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// killGroup ends the program and all that it started.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // fails where nobody is left
}
