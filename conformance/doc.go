// Package conformance plays recorded conversations and compares what was seen with what must be seen.
//
//	s, err := conformance.Load("scenarios/provider-order-two-turns.json")
//	if err != nil {
//		return err
//	}
//	result := conformance.Play(ctx, s, conformance.Options{})
//	fmt.Println(result.Name, result.Status)
//	for _, d := range result.Differences {
//		fmt.Printf("%s: want %s, have %s\n", d.Path, d.Want, d.Have)
//	}
//
// The format of a scenario is described in scenarios/README.md; scenarios-extra holds further files for rules that the
// recorded ones do not reach. A scenario is played in one of two ways: with its scripted providers and middleware compiled
// natively, or with each of them as a WebAssembly plugin (guests/script). Both must see the same.
//
// A file that asks of a plugin what the contract gives it no way to do is never played by halves: its result is
// [Unsupported] and says what is missing.
package conformance
