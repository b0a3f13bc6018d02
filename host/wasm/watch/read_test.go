package watch

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	f := &fileSource{path: path, limit: -1}
	found := f.survey(t.Context(), nil)
	write(t, path, "another")
	_, ok := f.read(t.Context(), found)
	assert.False(t, ok, "it is not what the survey found")
	got, ok := f.read(t.Context(), f.survey(t.Context(), nil))
	assert.True(t, ok)
	assert.Equal(t, "another", string(got.data))
}

// A meddler is a context that does something when it is asked for the first time, which a reader does before each read.
type meddler struct {
	context.Context
	once   sync.Once
	meddle func()
}

func (m *meddler) Err() error {
	m.once.Do(m.meddle)
	return m.Context.Err()
}

func TestAFileThatChangesUnderTheReaderIsNotDelivered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for name, meddle := range map[string]func(){
		"grows":   func() { write(t, path, "one and more") },
		"shrinks": func() { write(t, path, "o") },
		"is touched": func() {
			past := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(path, past, past))
		},
	} {
		write(t, path, "one")
		file := &fileSource{path: path, limit: -1}
		_, ok := file.read(&meddler{Context: t.Context(), meddle: meddle}, file.survey(t.Context(), nil))
		assert.False(t, ok, "a file that %s", name)

		write(t, path, "one")
		folder := &folderSource{path: filepath.Dir(path), most: 10}
		found := folder.survey(t.Context(), nil)
		_, ok = folder.read(&meddler{Context: t.Context(), meddle: meddle}, found)
		assert.False(t, ok, "a file in a folder that %s", name)

		write(t, path, "one")
		found = folder.survey(t.Context(), nil)
		_, err := folder.file(&meddler{Context: t.Context(), meddle: meddle}, found.entries[0])
		assert.ErrorIs(t, err, errMoved, "a file in a folder that %s", name)
	}
	folder := &folderSource{path: filepath.Dir(path), most: 10}
	found := folder.survey(t.Context(), nil)
	_, ok := folder.read(&meddler{Context: t.Context(), meddle: func() { write(t, path+"2", "two") }}, found)
	assert.False(t, ok, "a folder that gets another file")
}
