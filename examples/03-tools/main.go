// Command tools is an agent with two tools made of Go functions. One of them is only called when somebody says yes, and
// guards stand around all calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/tool"
	"github.com/weft-run/weft/message"
)

// order is what both tools take. The schema that the model sees is made of it.
type order struct {
	Number string `json:"number" jsonschema:"the number of the order, such as A-17"`
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	agent, err := newAgent()
	if err != nil {
		return err
	}
	session := agent.CreateSession("customer-1")
	for _, question := range []string{"order_status number A-17", "cancel_order number A-17", "cancel_order number A-18"} {
		fmt.Fprintln(out, ">", question)
		if err := answer(ctx, out, agent, session, host.Text(question)); err != nil {
			return err
		}
	}
	return nil
}

func newAgent() (*host.Agent, error) {
	status, err := tool.New(tool.Config{Name: "order_status", Description: "Says where an order is."},
		func(_ context.Context, in order) (string, error) {
			return "Order " + in.Number + " left on Monday; ann@example.com packed it.", nil
		})
	if err != nil {
		return nil, err
	}
	cancel, err := tool.New(tool.Config{Name: "cancel_order", Description: "Cancels an order.", NeedsApproval: tool.Always},
		func(_ context.Context, in order) (string, error) {
			if in.Number == "A-18" {
				return "", errors.New("it was cancelled before")
			}
			return "Order " + in.Number + " is cancelled.", nil
		})
	if err != nil {
		return nil, err
	}
	return host.NewAgent(host.AgentConfig{
		Name:               "shop",
		Client:             offline.New(offline.Config{}),
		Tools:              []host.Tool{status, cancel},
		FunctionInvocation: host.FunctionInvocation{IncludeDetailedErrors: true},
		Middleware: middleware.Join( // outermost first
			middleware.NewPII(middleware.PIIConfig{}),
			middleware.NewBreaker(middleware.BreakerConfig{}),
			middleware.NewRetry(middleware.RetryConfig{}),
			middleware.NewBudget(middleware.BudgetConfig{}),
			middleware.NewTimeouts(middleware.TimeoutsConfig{}),
		),
	})
}

// answer runs the agent, and again with the decisions that it asks for. Here somebody says yes, once and for all.
func answer(ctx context.Context, out io.Writer, agent *host.Agent, session *host.Session, input []*message.Message) error {
	response, err := agent.Run(ctx, input, host.RunConfig{Session: session})
	if err != nil {
		return err
	}
	if text := response.Text(); text != "" {
		fmt.Fprintln(out, text)
	}
	var decisions []message.Content
	for _, m := range response.Messages {
		for _, c := range m.Contents {
			if request, ok := c.(message.ApprovalRequest); ok {
				fmt.Fprintf(out, "(may it call %s %s? yes, always)\n", request.Call.Name, request.Call.Arguments)
				decisions = append(decisions, request.RespondAlways(true, message.RememberTool))
			}
		}
	}
	if decisions == nil {
		return nil
	}
	return answer(ctx, out, agent, session, []*message.Message{message.New(message.RoleUser, decisions...)})
}
