// Package web is for plugins that bring the answers of a web API into a run:
//
//	request := web.Request{
//		Service: "Example Search",
//		URL:     endpoint + "/search?" + web.Query("q", question, "lang", language),
//		Headers: map[string]string{"Authorization": "Bearer {{secret.api_key}}"},
//	}
//	var found answer
//	if err := request.Read(&found); err != nil {
//		return err // with a code that fits the status, and with what the service says
//	}
//	for _, hit := range found.hits {
//		out.ExtendMessages(pdk.User(web.Passage(hit.url, hit.title, web.Plain(hit.snippet, 1000))))
//	}
//
// What a service answers is text of strangers. Package web makes it plain text of a bounded length, without markup and
// without characters that nobody sees, under a line that says where it stands. What the text says is up to whoever wrote
// it: tell the agent that it is found text, and not instructions.
//
// It does by hand what net/http, net/url and html would do, which would add more than a megabyte to a plugin.
package web
