// Package watch tells when a file or a folder has a new version, and the version is complete.
//
//	w, err := watch.New(watch.Options{Logger: logger})
//	if err != nil {
//		return err
//	}
//	defer w.Close()
//	stop, err := w.File("plugins/clock.wasm", 10<<20, loaded.SHA256, func(f watch.File) {
//		if f.Err != nil {
//			logger.Warn("the plugin that is loaded goes on serving", "error", f.Err)
//			return
//		}
//		reload(f.Data) // the very bytes whose digest is f.SHA256
//	})
//
// What is watched is a path, not an inode: every folder on the way to it, and every folder that holds a symbolic link on
// that way. So a rename over the file, a deletion and a new creation, another folder in the place of a parent and the swap
// of a link (as Kubernetes does it with ..data) are seen like an overwritten file.
//
// # When something is delivered
//
// A version is read when nothing has changed for [Options.Settle]: no notification came, and size, times and inode are the
// same at both ends of that time. It is read once, from one descriptor that says the same before and after, and its digest
// is that of the bytes delivered. What has the digest of what was delivered last is not delivered again, so that a touched
// file is no news.
//
// Changes that never pause are read nevertheless once they went on for [Options.MaxWait], where two readings are equal that
// are Settle apart. A file that was begun anew several times in the last MaxWait (replaced by another one, or truncated),
// and a folder, are read twice in a row instead. A single slow copy begins only once: it is never delivered half, however
// long it takes, unless its writer pauses for longer than Settle. Then the half version is followed by the whole one.
//
// Notifications can be missed: those of changes on another machine, and those of a folder that is known by two bind mounts.
// So everything is also looked at every [Options.Rescan].
package watch
