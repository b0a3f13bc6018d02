// Package kv keeps keys and their values for plugins, and may be used for anything else of that kind:
//
//	store := kv.NewMemory(kv.Options{}) // or sqlite.Open, which keeps them in a file
//	defer store.Close()
//	mine := kv.Namespace{Agent: "guide", Plugin: "clock", Scope: kv.ScopeSession, Session: session.ID()}
//	version, err := store.Set(ctx, mine, "city", jsontext.Value(`"Oslo"`), kv.SetOptions{})
//	if err != nil {
//		return err
//	}
//	_, err = store.Set(ctx, mine, "city", jsontext.Value(`"Bergen"`), kv.SetOptions{IfVersion: &version})
//	if errors.Is(err, kv.ErrConflict) {
//		return err // somebody else set it in between
//	}
//
// A [Namespace] says whose keys they are, and no key of one is ever seen from another. Every change of a key gives it a
// version that it did not have before, even if it was deleted in between, so that a write that holds for one version only
// never overwrites what it has not seen. [Limits] bound what one namespace holds; they are checked in the same step as the
// write, so that writers who race do not get past them. Entries may expire; from that moment they are not there.
//
// Stores: [Memory], and the one of package sqlite. Package kvtest says what every store does, as tests.
package kv
