package diagnose

import (
	"context"
	"strings"
	"testing"
)

// What people do to a message, and what stands beside it where they meet it, does not
// change what is found, nor the values.
func TestPlaces(t *testing.T) {
	entry := func(id, template string) Entry { return Entry{Ref: Ref{ID: id}, Template: template} }
	engine, err := New("", []Entry{
		entry("harbour", "The harbour ${name} has no free berth left"),
		entry("tide", "${port} tide table expired: ${date}"),
		entry("crane", "cannot lift the container '${id}' with crane '${crane}' today"),
		entry("lamp", "lighthouse lamp went out"),
		entry("keeper", "The keeper ${name} has left the lighthouse for good"),
		entry("signal", "Error response from lighthouse keeper"),
		entry("buoy", "the buoy number ${n} drifted beyond the fairway of ${port} and was lost at sea"),
		entry("mooring", "mooring ${ring} of `${ship}` was taken by the tug"),
		entry("flag", "flag_locker"),
		entry("gone", "the ferry to ${port} is gone"),
		entry("gone.", "The ferry to ${port} is gone."),
		entry("dim", "lamp is too dim"),
		{Ref: Ref{ID: "berth"}, Template: "berth ${berth} must be deeper than the ship", Pattern: "berth (?P<berth>north|south) must be deeper than the ship"},
		{Ref: Ref{ID: "rpc"}, Template: "harbour method was not found", Code: "-32601"},
		{Ref: Ref{ID: "numbered"}, Template: "anchor chain is too short", Code: "2001"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"other capitals", "the Harbour Hamburg has no free berth left", "harbour name=Hamburg"},
		{"an empty value between blanks", "The harbour  has no free berth left", "harbour name="},
		{"other quotes", "cannot lift the container \"c 7\" with crane \"K1\" today", "crane id=c 7 crane=K1"},
		{"cut before a blank and dots", "cannot lift the container 'c7' with crane 'K1 ...", "crane id=c7 crane=K1"},
		{"the head is lost", "keeper Ada has left the lighthouse for good", "keeper name=Ada"},
		{"a page", "<h1>Error</h1>\n<pre>Hamburg tide table expired: Monday</pre>\n<hr>", "tide port=Hamburg date=Monday"},
		{"a table", "pier\t7\tHamburg tide table expired: Monday\t2025-01-02", "tide port=Hamburg date=Monday"},
		{"an emphasised label", "**Error:** Hamburg tide table expired: Monday", "tide port=Hamburg date=Monday"},
		{"a code as label", "ERR_TIDE_GONE  Hamburg tide table expired: Monday", "tide port=Hamburg date=Monday"},
		{"an IPv6 address", "[2001:db8::1]:80 tide table expired: Monday", "tide port=[2001:db8::1]:80 date=Monday"},
		{"job and step", "build\tRun make\t2025-04-08T10:40:59.0811592Z Hamburg tide table expired: Monday", "tide port=Hamburg date=Monday"},
		{"a command", "::error file=a.js,line=3,col=1::Hamburg tide table expired: Monday", "tide port=Hamburg date=Monday"},
		{"a statement behind it", "General error: 1614 Hamburg tide table expired: Monday (SQL: select 1)", "tide port=Hamburg date=Monday"},
		{"an empty value, then a blank line", "Hamburg tide table expired: \n\nThe pier is open.", "tide port=Hamburg date="},
		{"an empty value, then another entry", "2025-01-02 10:00:00 ERROR Hamburg tide table expired: \n2025-01-02 10:00:01 ERROR giving up", "tide port=Hamburg date="},
		{"wrapped in a box of a screen's width", "│ " + strings.Repeat("x", 39) + " The harbour of Bremen and \"Bremerhaven\"\n│ has no free berth left\n", "harbour name=of Bremen and \"Bremerhaven\""},
		{"what introduces it comes after it", "Error response from lighthouse keeper: lamp is too dim", "dim signal"},
		{"a negative number as code", `{"error": {"code": -32601, "message": "what?"}}`, "rpc"},
		{"not the number without its sign", `{"error": {"code": 32601, "message": "what?"}}`, ""},
		{"an address is no code", "Error: [2001:db8::1]: what?", ""},
		{"a value that the gap does not take", "Berth west must be deeper than the ship", ""},
		{"another end of the message", "the buoy number 7 drifted beyond the fairway of Hamburg but came back.", ""},
		{"a capital inside is another beginning", "Left the lighthouse for good", ""},
		{"a quote that closed before the end of the value", "mooring r1 of 'Ada' stays, 'Bea' was taken by the tug", ""},
		{"the words of another message in place of a value", "the buoy number 7 drifted beyond the fairway of every other harbour and", ""},
		{"a name in quotes in a sentence", "open the `flag_locker` and take what you need", ""},
		{"the message without a full stop", "the ferry to Hamburg is gone", "gone port=Hamburg"},
		{"a quote that closed", "cannot lift the container 'c7' with crane 'K1' tomorrow", ""},
	} {
		answer := engine.Diagnose(context.Background(), []byte(c.text), Options{})
		var got []string
		for _, d := range answer.Diagnoses {
			got = append(got, d.Record.ID)
			for _, v := range d.Evidence[0].Captures {
				got = append(got, v.Name+"="+v.Value)
			}
		}
		if have := strings.Join(got, " "); have != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.name, c.text, have, c.want)
		}
	}
}

// A line that another message begins is no part of a value, however long the lines
// are.
func TestOverrun(t *testing.T) {
	engine, err := New("", []Entry{
		{Ref: Ref{ID: "port"}, Template: "pier ${n} is taken by another steamer"},
		{Ref: Ref{ID: "chart"}, Template: "chart \"${chart}\" was not found in ${dir}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := engine.Diagnose(context.Background(), []byte("pier 80 is taken by another steamer\nchart \"abcdef\" was not found in /srv\npier 81 is taken by another steamer\n"), Options{})
	if len(answer.Diagnoses) != 2 || answer.Diagnoses[0].Count+answer.Diagnoses[1].Count != 3 {
		t.Fatalf("%+v", answer.Diagnoses)
	}
	for _, d := range answer.Diagnoses {
		if d.Record.ID == "chart" && d.Evidence[0].Captures[1].Value != "/srv" {
			t.Errorf("%+v", d.Evidence[0].Captures)
		}
	}
}
