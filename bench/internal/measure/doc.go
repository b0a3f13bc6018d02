// Package measure is what the benchmarks of this folder have in common: samples that are taken in interleaved rounds,
// figures that are held against targets, children in processes of their own, and the memory of a process.
package measure
