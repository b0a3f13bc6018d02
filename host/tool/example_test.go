package tool_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/tool"
	"github.com/weft-run/weft/message"
)

func ExampleNew() {
	weather, err := tool.New(tool.Config{Name: "weather", Description: "Tells the weather of a city."},
		func(_ context.Context, in struct {
			City string `json:"city" jsonschema:"the city's name"`
			Days int    `json:"days,omitzero" jsonschema:"how many days ahead; 0 is today"`
		},
		) (string, error) {
			return fmt.Sprintf("Rain in %s in %d days.", in.City, in.Days), nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(weather.Definition().Parameters.JSON()))
	out, err := weather.Call(context.Background(), []byte(`{"city":"Bonn","days":2}`))
	fmt.Println(string(out), err)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"the city's name"},"days":{"type":"integer","description":"how many days ahead; 0 is today"}},"required":["city"],"additionalProperties":false}
	// "Rain in Bonn in 2 days." <nil>
}

func ExampleNew_none() {
	lights := tool.Must(tool.New(tool.Config{Name: "lights_off"}, func(context.Context, tool.None) (tool.None, error) {
		return tool.None{}, nil
	}))
	out, err := lights.Call(context.Background(), nil)
	fmt.Println(string(out), err)
	// Output: "Done." <nil>
}

func ExampleConfig_approval() {
	pay := tool.Must(tool.New(tool.Config{
		Name:          "pay",
		NeedsApproval: func(c message.FunctionCall) bool { return !strings.Contains(string(c.Arguments), `"euros":1}`) },
	}, func(_ context.Context, in struct {
		Euros int `json:"euros"`
	},
	) (tool.None, error) {
		return tool.None{}, nil
	}))
	asks := pay.(host.ApprovalTool)
	fmt.Println(asks.NeedsApproval(message.FunctionCall{Name: "pay", Arguments: []byte(`{"euros":1}`)}))
	fmt.Println(asks.NeedsApproval(message.FunctionCall{Name: "pay", Arguments: []byte(`{"euros":500}`)}))
	// Output:
	// false
	// true
}

func ExampleRaw() {
	parameters, err := schema.Parse([]byte(`{"type":"object","properties":{"sql":{"type":"string","maxLength":1000}},"required":["sql"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	query := tool.Must(tool.Raw(tool.Config{Name: "query", Description: "Reads the database."}, parameters,
		func(context.Context, jsontext.Value) (jsontext.Value, error) {
			return jsontext.Value(`[{"id":1}]`), nil
		}))
	out, err := query.Call(context.Background(), []byte(`{"sql":"select id from t"}`))
	fmt.Println(string(out), err)
	// Output: [{"id":1}] <nil>
}

func ExampleDeclared() {
	where := tool.Must(tool.Declared("where_am_i", "Asks the user's browser for the position.", nil))
	_, callable := where.(host.FunctionTool)
	fmt.Println(where.Definition().Name, callable)
	// Output: where_am_i false
}

func ExampleAgent() {
	librarian, err := host.NewAgent(host.AgentConfig{
		Name: "Librarian", Description: "Knows the documentation.", Client: offline.New(offline.Config{}),
		Instructions: "The weft is the thread that is drawn through the warp.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask, err := tool.Agent(librarian, tool.AgentConfig{Argument: "question"})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := ask.Call(context.Background(), []byte(`{"question":"What is the weft?"}`))
	fmt.Println(ask.Definition().Name, string(out), err)
	// Output: Librarian "“The weft is the thread that is drawn through the warp.” — instructions" <nil>
}
