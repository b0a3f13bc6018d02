// Package extism is the guest's side of Extism's host functions, and of nothing else: it moves bytes and knows no JSON.
//
// Compiled for wasip1 it imports the functions from extism:host/env. Compiled for anything else it has a stand-in with
// the same names, so that a plugin's code runs in an ordinary test; package pdktest drives that.
package extism
