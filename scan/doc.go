// Package scan finds out what stands in a tree, at the cost of one look at each file and of reading
// those that changed since the last time. It only reads; what it wants to remember, it gives to the
// caller as bytes (Index).
package scan
