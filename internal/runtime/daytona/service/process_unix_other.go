//go:build unix && !linux

package service

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
