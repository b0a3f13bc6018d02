// Package kernel runs things with Extism's own means and with this project's, and compares: the two kernels, call by call,
// and the guests that come with Extism's SDK. It is a module of its own, so that the project does not depend on that SDK.
//
//	go test .
package kernel
