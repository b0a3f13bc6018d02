package nearest

import "testing"

func TestWord(t *testing.T) {
	words := []string{"read", "add", "roles", "files", "limits"}
	for have, want := range map[string]string{
		"raed": "read", "REED": "read", "role": "roles", "limit": "limits", "flies": "files", "x": "", "something": "", "": "",
	} {
		if got := Word(have, words); got != want {
			t.Errorf("%q: %q, want %q", have, got, want)
		}
	}
}
