// Package json reads and writes JSON without reflection, for guests in which encoding/json would cost more than a
// megabyte of code and most of the time of a call. A type says itself how it is read and written:
//
//	func (s *notes) ReadJSON(r *json.Reader) {
//		for name := range r.Object() {
//			switch name {
//			case "version":
//				s.Version = r.Int()
//			case "lines":
//				s.Lines = r.Strings()
//			}
//		}
//	}
//
//	func (s *notes) WriteJSON(w *json.Writer) {
//		w.Object(func() {
//			w.Name("version").Int(s.Version)
//			w.Name("lines").Strings(s.Lines)
//		})
//	}
//
// [Unmarshal] and [Marshal] call these. Nothing returns an error on the way: the first fault is kept with its place, all
// reads after it give zero values and all loops end, so one check at the end is enough.
//
// What a value may be, [Reader.OneOf] and [Reader.Within] check; for any other rule there is [Reader.Fail].
//
// Reading is strict: one value and nothing after it, valid UTF-8, no lone surrogates, nesting of at most [MaxDepth], a
// value of the wrong type is a fault and so is null where a value was wanted. Two things are left to whoever reads: a
// member that was not asked for is passed over, and a name that occurs twice is given twice.
package json
