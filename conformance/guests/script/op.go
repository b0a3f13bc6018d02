package main

import (
	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// op is one operation. The file was checked when it was loaded, so it has the fields that belong to its name.
type op struct {
	name         string
	when         object
	text         string
	hasText      bool
	key          string
	value        json.Raw
	failure      string
	instructions []string
	messages     []pdk.Message // also that of "message"
	tools        []pdk.Tool
	middleware   []pdk.Middleware
	arguments    json.Raw
	catch        bool
}

// ReadJSON reads an operation as the scenario file writes it.
func (o *op) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "op":
			o.name = r.String()
		case "when":
			for member := range r.Object() {
				if member == "state" {
					o.when.ReadJSON(r)
				}
			}
		case "text":
			o.text, o.hasText = r.String(), true
		case "key":
			o.key = r.String()
		case "value":
			o.value = r.Raw()
		case "error":
			o.failure = r.String()
		case "instructions":
			o.instructions = r.Strings()
		case "messages":
			for range r.Array() {
				o.messages = append(o.messages, readMessage(r))
			}
		case "message":
			o.messages = append(o.messages, readMessage(r))
		case "tools":
			for range r.Array() {
				o.tools = append(o.tools, readTool(r))
			}
		case "middleware":
			for range r.Array() {
				o.middleware = append(o.middleware, readMiddleware(r))
			}
		case "arguments":
			o.arguments = r.Raw()
		case "catch":
			o.catch = r.Bool()
		}
	}
}

// readMessage reads a message in the words of a scenario: role, text, calls, results.
func readMessage(r *json.Reader) pdk.Message {
	var m pdk.Message
	var text, calls, results []pdk.Content
	for name := range r.Object() {
		switch name {
		case "role":
			m.Role = pdk.Role(r.String())
		case "text":
			text = append(text, pdk.Text{Text: r.String()})
		case "calls":
			for range r.Array() {
				calls = append(calls, readCall(r))
			}
		case "results":
			for range r.Array() {
				results = append(results, readResult(r))
			}
		}
	}
	m.Contents = append(append(text, calls...), results...)
	return m
}

func readCall(r *json.Reader) pdk.FunctionCall {
	var c pdk.FunctionCall
	for name := range r.Object() {
		switch name {
		case "call_id":
			c.CallID = r.String()
		case "name":
			c.Name = r.String()
		case "arguments":
			c.Arguments = r.Raw()
		}
	}
	return c
}

func readResult(r *json.Reader) pdk.FunctionResult {
	var f pdk.FunctionResult
	for name := range r.Object() {
		switch name {
		case "call_id":
			f.CallID = r.String()
		case "result":
			f.Result = json.String(r.String())
		}
	}
	return f
}
