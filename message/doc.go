// Package message holds what a conversation is made of: messages, and the contents that a message is made of.
//
//	in := message.User("What is a weft?")
//	fmt.Println(in.Role, in.Text())
//
// The JSON form of a message is the same everywhere: in the contract with plugins (clause MSG of abi.md), in a stored
// session and in a trace. Values of this package are shared between the parts of a run and are read-only once they were
// handed over; [Message.Clone] makes a copy that may be changed.
package message
