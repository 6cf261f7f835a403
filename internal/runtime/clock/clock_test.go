package clock

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFake(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := NewFake(start)
	var got []string
	c.AfterFunc(3*time.Second, func() { got = append(got, "three") })
	c.AfterFunc(time.Second, func() {
		got = append(got, "one")
		c.AfterFunc(time.Second, func() { got = append(got, "two") })
	})
	stopped := c.AfterFunc(time.Second, func() { got = append(got, "stopped") })
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop reports the wrong thing")
	}
	c.Advance(10 * time.Second)
	if diff := cmp.Diff([]string{"one", "two", "three"}, got); diff != "" {
		t.Error(diff)
	}
	if !c.Now().Equal(start.Add(10*time.Second)) || len(c.Pending()) != 0 {
		t.Errorf("now %s, pending %v", c.Now(), c.Pending())
	}
}

func TestWaitForAndSleep(t *testing.T) {
	c := NewFake(time.Unix(0, 0))
	done := make(chan error)
	go func() { done <- Sleep(t.Context(), c, time.Minute) }()
	wait, err := c.WaitFor(t.Context(), 50*time.Second, 70*time.Second)
	if err != nil || wait != time.Minute {
		t.Fatalf("WaitFor = %s, %v", wait, err)
	}
	c.Advance(time.Minute)
	if err := <-done; err != nil {
		t.Error(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Sleep(over, c, time.Minute); err == nil {
		t.Error("Sleep outlived its context")
	}
	if _, err := c.WaitFor(over, 0, time.Hour); err == nil {
		t.Error("WaitFor outlived its context")
	}
	if len(c.Pending()) != 0 {
		t.Error("Sleep left its timer behind")
	}
}
