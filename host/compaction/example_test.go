package compaction_test

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

func ExampleTruncation() {
	messages := []*message.Message{
		message.System("Be brief."),
		message.User("Hello."), message.Assistant("Hi."),
		message.User("What is a loom?"),
	}
	kept, err := compaction.Truncation{MaxMessages: 3, CompactTo: 2}.Compact(context.Background(), messages, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range kept {
		fmt.Println(m.Role, m.Text())
	}
	// Output:
	// system Be brief.
	// user What is a loom?
}
