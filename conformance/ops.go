package conformance

import (
	"context"
	"fmt"
)

// scope is where operations are carried out: one call of a provider's hook, or of middleware.
type scope interface {
	// holds reports whether the operation's "when" is met.
	holds(w When) (bool, error)
	// do carries out one operation.
	do(ctx context.Context, op Op) error
}

// runOps carries out operations in order, up to the first that fails.
func runOps(ctx context.Context, ops []Op, s scope) error {
	for _, op := range ops {
		wanted, err := s.holds(op.When)
		if err != nil {
			return fmt.Errorf("op %s: %w", op.Name, err)
		}
		if !wanted {
			continue
		}
		if err := s.do(ctx, op); err != nil {
			return err
		}
	}
	return nil
}
