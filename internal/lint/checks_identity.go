package lint

import "errorkb/internal/kb"

// identityChecks look at names, status and what a record says about others.
var identityChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: "status-reason", Name: "status without a reason", Severity: kb.FindingError,
		Description: "A record that is deprecated, removed or withdrawn says why in statusReason.",
		Advice:      "add one sentence: since which version or date, and what to do instead"}, record: checkStatusReason},
	{CheckInfo: CheckInfo{Code: "status-active", Name: "reason without a status", Severity: kb.FindingWarning,
		Description: "An active record has neither statusReason nor replacedBy.",
		Advice:      "set the status, or remove the field"}, record: checkStatusActive},
	{CheckInfo: CheckInfo{Code: "self-related", Name: "record points to itself", Severity: kb.FindingError,
		Description: "related and replacedBy name other records.",
		Advice:      "remove it"}, record: checkSelfRelated},
	{CheckInfo: CheckInfo{Code: "self-alias", Name: "alias is the name itself", Severity: kb.FindingWarning,
		Description: "An alias is another name than the record's slug, id and code, which are found anyway.",
		Advice:      "remove it"}, record: checkSelfAlias},
	{CheckInfo: CheckInfo{Code: "history-same", Name: "earlier wording is the present one", Severity: kb.FindingWarning,
		Description: "messageHistory holds wordings that differ from errorMessage and from each other.",
		Advice:      "remove it"}, record: checkHistorySame},
}

func checkStatusReason(s *subject, report reporter) {
	r := s.record
	switch r.Status {
	case kb.StatusDeprecated, kb.StatusRemoved, kb.StatusWithdrawn:
		if blank(r.StatusReason) {
			report("statusReason", "is missing, and the status is %s", r.Status)
		}
	}
}

func checkStatusActive(s *subject, report reporter) {
	r := s.record
	if r.Status != kb.StatusActive {
		return
	}
	if r.StatusReason != nil {
		report("statusReason", "is given, and the status is active")
	}
	if r.ReplacedBy != nil {
		report("replacedBy", "is given, and the status is active")
	}
}

func checkSelfRelated(s *subject, report reporter) {
	for i, id := range s.record.Related {
		if id == s.record.ID {
			report(element("related", i), "is the record itself")
		}
	}
	if by := s.record.ReplacedBy; by != nil && *by == s.record.ID {
		report("replacedBy", "is the record itself")
	}
}

func checkSelfAlias(s *subject, report reporter) {
	r := s.record
	for i, alias := range r.Aliases {
		if alias == r.Slug || alias == r.ID || r.ErrorCode != nil && alias == *r.ErrorCode {
			report(element("aliases", i), "%q is the record's own name", alias)
		}
	}
}

func checkHistorySame(s *subject, report reporter) {
	seen := map[string]bool{s.record.ErrorMessage: true}
	for i, h := range s.record.MessageHistory {
		if seen[h.ErrorMessage] {
			report(element("messageHistory", i)+".errorMessage", "stands here or in errorMessage already")
		}
		seen[h.ErrorMessage] = true
	}
}
