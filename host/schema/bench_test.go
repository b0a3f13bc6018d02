package schema_test

import (
	"testing"

	"github.com/weft-run/weft/host/schema"
)

func BenchmarkValidate(b *testing.B) {
	s, err := schema.For[place]()
	if err != nil {
		b.Fatal(err)
	}
	value := []byte(`{"city":"Bonn","country":"Germany","days":3}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(value); err != nil {
			b.Fatal(err)
		}
	}
}
