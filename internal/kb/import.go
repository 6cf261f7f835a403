package kb

import (
	"bytes"
	"fmt"
)

// Import reads records that come from elsewhere: one record or one envelope,
// an array of them, or JSON lines of either, in version 2 or 3. The records
// come out as version 3 with every value kept; members that the JSON API adds
// to a record (url, relatedErrors, evidence) are computed anew and passed over.
// Findings name the place in data; File is left to the caller.
func Import(data []byte) ([]*Record, []Finding) {
	root, problems, ok := parseTree(data)
	if !ok {
		if records, findings, ok := importLines(data); ok {
			return records, findings
		}
	}
	d := decoder{data: data, derived: true}
	for _, p := range problems {
		d.report(p.offset, "", p.code, FindingError, p.message, p.advice)
	}
	if !ok {
		return nil, d.findings
	}
	var records []*Record
	if root.kind != kindArray {
		if r := d.source(&root); r != nil {
			records = append(records, r)
		}
		return records, d.findings
	}
	if len(root.children) == 0 {
		d.report(root.start, "", "empty", FindingError, "the array holds no record", "")
	}
	for i := range root.children {
		from := len(d.findings)
		if r := d.source(&root.children[i]); r != nil {
			records = append(records, r)
		}
		for j := from; j < len(d.findings); j++ {
			d.findings[j].Field = join(fmt.Sprintf("[%d]", i), d.findings[j].Field)
		}
	}
	return records, d.findings
}

// importLines reads JSON lines. It is not ok when the first line with text is
// not a whole value: then the data was meant as one value.
func importLines(data []byte) ([]*Record, []Finding, bool) {
	var records []*Record
	var findings []Finding
	lines := 0
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		lines++
		if _, _, ok := parseTree(line); !ok && lines == 1 {
			return nil, nil, false
		}
		found, bad := Import(line)
		for i := range bad {
			bad[i].Line = number
		}
		records = append(records, found...)
		findings = append(findings, bad...)
	}
	return records, findings, lines > 1
}
