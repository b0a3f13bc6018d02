package conformance

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// warnings is a slog.Handler that keeps warnings and errors as texts: the message and the values of its attributes.
type warnings struct {
	kept  *keptWarnings
	attrs []slog.Attr
}

type keptWarnings struct {
	mu  sync.Mutex
	all []string
}

var _ slog.Handler = warnings{}

func newWarnings() warnings { return warnings{kept: &keptWarnings{}} }

// Enabled is true from warnings on.
func (w warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle keeps one record.
func (w warnings) Handle(_ context.Context, record slog.Record) error {
	parts := []string{record.Message}
	for _, a := range w.attrs {
		parts = append(parts, a.String())
	}
	record.Attrs(func(a slog.Attr) bool {
		parts = append(parts, a.String())
		return true
	})
	w.kept.mu.Lock()
	defer w.kept.mu.Unlock()
	w.kept.all = append(w.kept.all, strings.Join(parts, " "))
	return nil
}

// WithAttrs adds attributes to all further records.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	w.attrs = append(slices.Clone(w.attrs), attrs...)
	return w
}

// WithGroup changes nothing: names are not compared.
func (w warnings) WithGroup(string) slog.Handler { return w }

func (w warnings) list() []string {
	w.kept.mu.Lock()
	defer w.kept.mu.Unlock()
	return slices.Clone(w.kept.all)
}
