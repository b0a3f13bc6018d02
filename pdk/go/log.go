package pdk

import "github.com/weft-run/weft/pdk/go/internal/extism"

// LogDebug writes a line to the host's log that only who looks for a fault wants to see. The host decides which levels it
// keeps and how many lines; one that it does not keep costs next to nothing.
func LogDebug(line string) { extism.Log(extism.LevelDebug, line) }

// LogInfo writes a line to the host's log.
func LogInfo(line string) { extism.Log(extism.LevelInfo, line) }

// LogWarn writes a line to the host's log: something was left out or is not as it should be, and the work goes on.
func LogWarn(line string) { extism.Log(extism.LevelWarn, line) }

// LogError writes a line to the host's log: something failed.
func LogError(line string) { extism.Log(extism.LevelError, line) }
