package openaitest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Server gives the replies of a script, one to each request, in order. A request too many gets status 500. It may be used
// by many goroutines.
type Server struct {
	// URL is the base URL of the protocol, such as http://127.0.0.1:40001/v1.
	URL string

	server   *httptest.Server
	mu       sync.Mutex
	replies  []Reply
	requests []Request
}

// Request is a request as it came.
type Request struct {
	Method string
	Path   string
	Header http.Header
	// Body is what was sent, byte for byte.
	Body jsontext.Value
}

// New starts a server. It is to be closed.
func New(replies ...Reply) *Server {
	s := &Server{replies: replies}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.server.URL + "/v1"
	return s
}

// Add puts replies behind those of the script.
func (s *Server) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Requests are the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Close stops the server. It waits for requests that are being answered.
func (s *Server) Close() { s.server.Close() }

// next keeps a request and takes the reply to it.
func (s *Server) next(r *http.Request, body []byte) (reply Reply, number int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	number = len(s.requests)
	if len(s.replies) == 0 {
		return Reply{}, number, false
	}
	reply, s.replies = s.replies[0], s.replies[1:]
	return reply, number, true
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	reply, number, ok := s.next(r, body)
	if !ok {
		failed(w, http.StatusInternalServerError, "the script has no reply left")
		return
	}
	if reply.Handler != nil {
		reply.Handler(w, r)
		return
	}
	var asked struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Store  *bool  `json:"store"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || r.Method != http.MethodPost {
		failed(w, http.StatusBadRequest, fmt.Sprintf("%s with a body that is no request: %v", r.Method, err))
		return
	}
	a := answer{Reply: reply, number: number, model: asked.Model, stored: asked.Store == nil || *asked.Store}
	var whole any
	var events []event
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		whole, events = a.chat(), a.chatEvents()
	case strings.HasSuffix(r.URL.Path, "/responses"):
		whole, events = a.response(), a.responseEvents()
	case strings.HasSuffix(r.URL.Path, "/embeddings"):
		whole = a.embeddings()
	default:
		failed(w, http.StatusNotFound, "no such path: "+r.URL.Path)
		return
	}
	contentType, text := "application/json", marshal(whole)
	if asked.Stream {
		contentType, text = "text/event-stream", sse(events)
	}
	w.Header().Set("Content-Type", contentType)
	write(w, text, reply.PieceBytes)
}

// failed answers with an error in the protocol's form.
func failed(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	write(w, marshal(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": nil,
	}}), 0)
}

// write sends a body in pieces of a size, each at once; 0 sends it whole.
func write(w http.ResponseWriter, body []byte, size int) {
	if size <= 0 {
		size = max(1, len(body))
	}
	for piece := range slices.Chunk(body, size) {
		if _, err := w.Write(piece); err != nil {
			return // the client is gone
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// marshal is a value that can be marshalled as JSON, with sorted names.
func marshal(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Appendf(nil, "openaitest: %v", err)
	}
	return b
}
