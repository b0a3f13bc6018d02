// Package openaitest is a server for tests that speaks the protocol of package openai: it gives the replies of a script,
// in the API and the way that each request asks for, and keeps the requests.
//
//	server := openaitest.New(
//		openaitest.Reply{Calls: []openaitest.Call{{ID: "call_1", Name: "clock", Arguments: `{}`}}},
//		openaitest.Reply{Text: "It is noon."},
//	)
//	defer server.Close()
//	client, err := openai.New(openai.Config{BaseURL: server.URL, Model: "test"})
//
// It listens on 127.0.0.1, on a port that the system picks.
package openaitest
