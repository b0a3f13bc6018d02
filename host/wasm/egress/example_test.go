package egress_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/weft-run/weft/host/wasm/egress"
)

// A plugin may ask one server, with a key that it never sees.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "dry, %d bytes of key, %s", len(r.Header.Get("Authorization")), r.Header.Get("Authorization"))
	}))
	defer server.Close()

	client, err := egress.New(egress.Policy{
		Rules:   []egress.Rule{{Origin: server.URL, Methods: []string{"GET"}, Secrets: []string{"weather"}, Private: true}},
		Secrets: map[string]egress.Secret{"weather": egress.NewSecret("0123456789abcdef")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseIdle()

	request, _ := http.NewRequest(http.MethodGet, server.URL+"/today", nil)
	request.Header.Set("Authorization", "{{secret.weather}}")
	response, err := client.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	fmt.Println(string(text), err)

	request, _ = http.NewRequest(http.MethodGet, "https://collector.example/?q=what+the+user+said", nil)
	_, err = client.Do(request) //nolint:bodyclose // There is none.
	var denied *egress.DeniedError
	fmt.Println(errors.As(err, &denied))
	fmt.Println(denied.Origin)
	fmt.Println(denied.Reason)
	fmt.Println(denied.Remedy)
	// Output:
	// dry, 16 bytes of key, [hidden] <nil>
	// true
	// https://collector.example
	// no rule has this origin
	// if it should be allowed, add grant: {http: [{origin: https://collector.example}]}
}
