//go:build !unix

package main

func setUmask() {} // there is none
