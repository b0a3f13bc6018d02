package host

import "context"

// Embedder turns texts into vectors, such that texts that mean the like stand near each other. It must be safe for use by
// many goroutines, and must return soon after ctx ended. Vectors of different models cannot be compared.
type Embedder interface {
	// Embed returns one vector for each text of the request, in their order, or an error and none. Errors of a service are
	// a [ModelError].
	Embed(ctx context.Context, request *EmbedRequest) (*EmbedResponse, error)
}

// EmbedRequest is what is to be embedded.
type EmbedRequest struct {
	// Texts may be empty, which asks for nothing. They are read-only.
	Texts []string
	// Model overrides the embedder's model; an embedder that has one alone passes it over.
	Model string
}

// EmbedResponse is the vectors of an [EmbedRequest].
type EmbedResponse struct {
	// Vectors stand in the order of the texts. All have the same length, which the model decides, and finite numbers.
	Vectors [][]float32
	// Model is the model that made them, as the service names it: what is kept beside vectors that are stored.
	Model string
	// Usage is nil where the embedder does not tell.
	Usage *Usage
}
