package pdk

import "github.com/weft-run/weft/pdk/go/json"

// readable is a pointer to a value that reads itself.
type readable[T any] interface {
	*T
	json.Readable
}

// writable is a pointer to a value that writes itself.
type writable[T any] interface {
	*T
	json.Writable
}

// readPart reads a part that the host wrote; nil where it is absent.
func readPart[T any, P readable[T]](what string, raw json.Raw) *T {
	if raw == "" {
		return nil
	}
	value := new(T)
	r := json.NewReader(raw)
	P(value).ReadJSON(r)
	ended(what, r)
	return value
}

// readList reads an array that the host wrote; nil where it is absent or empty.
func readList[T any, P readable[T]](what string, raw json.Raw) []T {
	if raw == "" {
		return nil
	}
	r := json.NewReader(raw)
	all := appendList[T, P](nil, r)
	ended(what, r)
	return all
}

// appendList reads an array behind what is there.
func appendList[T any, P readable[T]](all []T, r *json.Reader) []T {
	for range r.Array() {
		var value T
		all = append(all, value)
		P(&all[len(all)-1]).ReadJSON(r)
	}
	return all
}

// writeValues writes values that are JSON already as the member of that name, unless there are none.
func writeValues(w *json.Writer, name string, all []json.Raw) {
	if len(all) == 0 {
		return
	}
	w.Name(name).Array(func() {
		for _, value := range all {
			w.Raw(value)
		}
	})
}

// writeAll writes an array.
func writeAll[T any, P writable[T]](w *json.Writer, all []T) {
	w.Array(func() {
		for i := range all {
			P(&all[i]).WriteJSON(w)
		}
	})
}

// readWords reads an array of strings of a type of their own.
func readWords[T ~string](r *json.Reader) []T {
	all := []T{}
	for range r.Array() {
		all = append(all, T(r.String()))
	}
	return all
}

// writeWords writes an array of strings as the member of that name, unless it is empty.
func writeWords[T ~string](w *json.Writer, name string, all []T) {
	if len(all) == 0 {
		return
	}
	w.Name(name).Array(func() {
		for _, word := range all {
			w.String(string(word))
		}
	})
}

// readMessages reads messages that the host wrote.
func readMessages(what string, raw json.Raw) []Message { return readList[Message](what, raw) }

// memberOf returns one member of an object that the host wrote, or "" where there is none of this name.
func memberOf(what string, raw json.Raw, name string) json.Raw {
	if raw == "" {
		return ""
	}
	var value json.Raw
	r := json.NewReader(raw)
	for member := range r.Object() {
		if member == name {
			value = r.Raw()
		}
	}
	ended(what, r)
	return value
}

// textOf is a JSON value as a text: the content of a string, the JSON itself of anything else.
func textOf(what string, raw json.Raw) string {
	r := json.NewReader(raw)
	if r.Kind() != json.KindString {
		return string(raw)
	}
	text := r.String()
	ended(what, r)
	return text
}

// ended ends the reading of a part that the host wrote. A fault in it is the host's, so no hook is asked to handle it.
func ended(what string, r *json.Reader) {
	if err := r.End(); err != nil {
		panic(NewError(CodeInvalidInput, "the host's "+what+" is not what the contract says: "+err.Error()))
	}
}

// readOwn reads a part that is the plugin's own or its operator's.
func readOwn(what string, raw json.Raw, v json.Readable) error {
	if raw == "" {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return NewError(CodeInvalidInput, what+": "+err.Error())
	}
	return nil
}

// member is a name and its value.
type member struct {
	name  string
	value json.Raw
}

// members is an object whose members keep the order in which they were first set.
type members []member

func (all *members) set(name string, value json.Raw) {
	for i, m := range *all {
		if m.name == name {
			(*all)[i].value = value
			return
		}
	}
	if *all == nil {
		*all = make(members, 0, 4)
	}
	*all = append(*all, member{name: name, value: value})
}

// get is the value of a member; empty where there is none.
func (all members) get(name string) json.Raw {
	for _, m := range all {
		if m.name == name {
			return m.value
		}
	}
	return ""
}

// text is a member that is a string, number one that is a whole number, and flag one that is true or false; what is absent
// is zero.
func (all members) text(name string) string {
	if raw := all.get(name); raw != "" {
		return textOf(name, raw)
	}
	return ""
}

func (all members) number(name string) (n int) {
	if raw := all.get(name); raw != "" {
		r := json.NewReader(raw)
		n = r.Int()
		ended(name, r)
	}
	return n
}

func (all members) flag(name string) bool { return all.get(name) == "true" }

// write writes the object as the member of that name, unless it is empty.
func (all members) write(w *json.Writer, name string) {
	if len(all) == 0 {
		return
	}
	w.Name(name).Object(func() {
		for _, m := range all {
			w.Name(m.name).Raw(m.value)
		}
	})
}
