// Package middleware has the guards that most agents want around their runs, model calls and tool calls:
//
//	agent, err := host.NewAgent(host.AgentConfig{
//		Client: client,
//		Tools:  tools,
//		Middleware: middleware.Join( // outermost first
//			middleware.NewLogging(middleware.LoggingConfig{Logger: log}),
//			middleware.NewPII(middleware.PIIConfig{}),
//			middleware.NewPermissions(middleware.PermissionsConfig{Deny: []middleware.ToolRule{{Tool: "delete_*"}}}),
//			middleware.NewBreaker(middleware.BreakerConfig{}),
//			middleware.NewErrorLimits(middleware.ErrorLimitsConfig{}),
//			middleware.NewOverflow(middleware.OverflowConfig{}),
//			middleware.NewRetry(middleware.RetryConfig{}),
//			middleware.NewBudget(middleware.BudgetConfig{}),
//			middleware.NewTimeouts(middleware.TimeoutsConfig{}),
//		),
//	})
//
// The order above is the one to begin with: what is logged and stored is redacted; a call that is too long is compacted
// outside of the retries; each retry counts for the budget and has its own time; a tool that is abandoned is abandoned
// by the innermost.
//
// Each constructor returns a [host.Middleware] with the layers that the guard needs, to be used as a whole. The guards are
// safe for many goroutines and hold nothing of a run or a session: what belongs to a run travels in its context, and what
// belongs to a session stands in the session's state. The zero value of each config is safe. These are the defaults; a
// limit of -1 means none:
//
//	BreakerConfig.EndAt               5
//	BreakerConfig.RefuseAt            3
//	BudgetConfig.Bucket               weft.budget
//	BudgetConfig.Run.InputTokens      -1
//	BudgetConfig.Run.ModelCalls       50
//	BudgetConfig.Run.OutputTokens     -1
//	BudgetConfig.Run.ToolCalls        200
//	BudgetConfig.Run.TotalTokens      1000000
//	BudgetConfig.Session.InputTokens  -1
//	BudgetConfig.Session.ModelCalls   -1
//	BudgetConfig.Session.OutputTokens -1
//	BudgetConfig.Session.ToolCalls    -1
//	BudgetConfig.Session.TotalTokens  -1
//	ErrorLimitsConfig.Consecutive     3
//	ErrorLimitsConfig.Total           10
//	LoggingConfig.Content             false
//	LoggingConfig.Logger              slog.Default()
//	LoggingConfig.Redact.Keys         DefaultRedactKeys()
//	LoggingConfig.Redact.MaxValue     1024
//	LoggingConfig.Redact.Patterns     none
//	OverflowConfig.Compactor          the older half goes
//	OverflowConfig.Logger             slog.Default()
//	PermissionsConfig.Allow           none
//	PermissionsConfig.Check           none
//	PermissionsConfig.Deny            none
//	PermissionsConfig.EndRun          false
//	PIIConfig.Detectors               AllDetectors()
//	PIIConfig.Input                   redact
//	PIIConfig.KeepInstructions        false
//	PIIConfig.Output                  redact
//	PIIConfig.ToolResults             redact
//	RetryConfig.BaseDelay             500ms
//	RetryConfig.Logger                slog.Default()
//	RetryConfig.MaxAttempts           3
//	RetryConfig.MaxDelay              30s
//	RetryConfig.Rand                  rand.Float64
//	TimeoutsConfig.Idle               1m0s
//	TimeoutsConfig.Model              5m0s
//	TimeoutsConfig.Tool               30s
//	TimeoutsConfig.Tools              none
package middleware
