package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// verb is one word of the vocabulary of scenarios.
type verb struct {
	needs, takes []string // members of the step
	// words says what the step does: inline Markdown, imperative, no full stop.
	words func(s Step) string
	run   func(w *world, s Step) outcome
}

// outcome is what came of a step.
type outcome struct {
	err error
	// refusals are texts in the result of a call that say that it did not do
	// what was wanted.
	refusals []string
	// result is what there is to say, the same at each run.
	result string
}

// ok reports whether the step did what was wanted.
func (o outcome) ok() bool { return o.err == nil && len(o.refusals) == 0 }

// say is the outcome of a step that may have failed.
func say(err error, format string, args ...any) outcome {
	if err != nil {
		return outcome{err: err}
	}
	return outcome{result: fmt.Sprintf(format, args...)}
}

// verbs is the vocabulary. It is filled in init, as its functions check steps
// themselves.
var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		// The server process and its plugins.
		"install": {needs: list("plugin worker"), takes: list("key provider driver status capabilities"), words: installWords, run: (*world).install},
		"edit-plugin": {needs: list("plugin"), takes: list("status capabilities provider driver"), words: func(s Step) string {
			return "Change plugin " + code(s.Plugin) + " so that " + strings.Join(manifestWords(s), " and ")
		}, run: (*world).editPlugin},
		"worker-program": {needs: list("plugin"), takes: list("program args variables without"), words: programWords, run: (*world).workerProgram},
		"start-worker": {needs: list("plugin"), words: func(s Step) string {
			return "Start the worker of plugin " + code(s.Plugin)
		}, run: (*world).startWorker},
		"start-handle": {needs: list("plugin"), words: func(s Step) string {
			return "Call `start` on the handle of the worker of plugin " + code(s.Plugin)
		}, run: (*world).startHandle},
		"stop-worker": {needs: list("plugin"), words: func(s Step) string {
			return "Stop the worker of plugin " + code(s.Plugin) + " and forget it"
		}, run: (*world).stopWorker},
		"kill-worker": {needs: list("plugin"), words: func(s Step) string {
			return "Kill the worker process of plugin " + code(s.Plugin) + " with `SIGKILL`"
		}, run: (*world).killWorker},
		"await-worker": {needs: list("plugin status"), words: func(s Step) string {
			return "Wait until the worker of plugin " + code(s.Plugin) + " is " + code(s.Status)
		}, run: (*world).awaitWorker},
		"advance": {needs: list("milliseconds"), words: func(s Step) string {
			return "Let " + milliseconds(s.Milliseconds) + " pass on the clock of the host"
		}, run: (*world).advance},
		"server-with-workers": {words: func(Step) string {
			return "Go on in a server process that has a worker manager, with the same plugins and leases"
		}, run: (*world).serverWithWorkers},
		"host-method": {needs: list("method"), words: func(s Step) string {
			return "Let the host offer the method " + code(s.Method) + " to workers that start from now on"
		}, run: (*world).hostMethod},

		// Environments, leases and what is done with them.
		"environment": {needs: list("environment driver"), takes: list("name status config"), words: environmentWords, run: (*world).environment},
		"acquire": {needs: list("environment lease"), words: func(s Step) string {
			return "Acquire lease " + code(s.Lease) + " of environment " + code(s.Environment)
		}, run: (*world).acquire},
		"edit-lease": {needs: list("lease"), takes: list("set without resourceId"), words: editLeaseWords, run: (*world).editLease},
		"release":    {needs: list("lease"), words: leaseWords("Release lease %s"), run: (*world).release},
		"destroy":    {needs: list("lease"), words: leaseWords("Destroy lease %s"), run: (*world).destroy},
		"resume":     {needs: list("lease"), words: leaseWords("Resume lease %s"), run: (*world).resume},
		"realize":    {needs: list("lease"), words: leaseWords("Realize the workspace of lease %s"), run: (*world).realize},
		"sync-in":    {needs: list("lease"), words: leaseWords("Sync files into lease %s"), run: (*world).syncIn},
		"command": {needs: list("command"), takes: list("argv variables"), words: func(s Step) string {
			text := "Let command " + code(s.Command) + " be " + code(vector(s.Argv))
			if len(s.Variables) > 0 {
				text += " with the variables " + pairs(s.Variables)
			}
			return text
		}, run: (*world).defineCommand},
		"execute": {needs: list("lease command"), words: func(s Step) string {
			return "Execute command " + code(s.Command) + " in lease " + code(s.Lease)
		}, run: (*world).execute},
		"open": {needs: list("lease command"), takes: list("direct channel until"), words: openWords, run: (*world).open},
		"open-login": {needs: list("lease"), words: func(s Step) string {
			return "Open a login terminal for `claude` in lease " + code(s.Lease)
		}, run: (*world).openLogin},
		"write": {needs: list("channel bytes"), takes: list("until"), words: func(s Step) string {
			text := "Write " + count(s.Bytes) + " bytes to channel " + code(s.Channel)
			if s.Until != "" {
				text += " and wait for the program to answer " + code(s.Until)
			}
			return text
		}, run: (*world).write},
		"close-channel": {needs: list("channel"), words: func(s Step) string {
			return "Close channel " + code(s.Channel)
		}, run: (*world).closeChannel},

		// Configurations.
		"validate": {needs: list("environment"), words: func(s Step) string {
			return "Ask the provider's worker whether it accepts the config of environment " + code(s.Environment)
		}, run: (*world).validate},
		"save": {needs: list("environment"), words: func(s Step) string {
			return "Save environment " + code(s.Environment)
		}, run: (*world).save},

		// Calls and lines without anything in between.
		"request": {needs: list("request"), takes: list("method params line"), words: requestWords, run: (*world).defineRequest},
		"call": {needs: list("plugin request"), words: func(s Step) string {
			return "Send request " + code(s.Request) + " to the worker of plugin " + code(s.Plugin)
		}, run: (*world).call},
		"send-line": {needs: list("worker request"), words: func(s Step) string {
			return "Start the worker program " + code(s.Worker) + " by hand and write " + code(s.Request) + " to its standard input"
		}, run: (*world).sendLine},

		// The Daytona-style service.
		"break-service": {needs: list("operation fault"), takes: list("message resource times"), words: breakWords, run: (*world).breakService},
		"mend-service":  {words: func(Step) string { return "Mend the service" }, run: (*world).mendService},
		"sandbox-state": {needs: list("resource status"), takes: list("message recoverable"), words: func(s Step) string {
			text := "At the service, put sandbox " + code(s.Resource) + " into the state " + code(s.Status)
			if s.Message != "" {
				text += " with the reason " + code(s.Message)
			}
			return text
		}, run: (*world).sandboxState},
	}
}

func list(words string) []string { return strings.Fields(words) }

// Words of steps.

func code(text string) string { return "`" + text + "`" }

func vector(argv []string) string {
	raw, _ := json.Marshal(append([]string{}, argv...)) // strings
	return string(raw)
}

func pairs(m map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		texts = append(texts, code(name+"="+m[name]))
	}
	return strings.Join(texts, ", ")
}

func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return digits
}

func milliseconds(n int) string {
	if n >= 1000 && n%1000 == 0 {
		return count(n/1000) + " s"
	}
	return count(n) + " ms"
}

func leaseWords(format string) func(Step) string {
	return func(s Step) string { return fmt.Sprintf(format, code(s.Lease)) }
}

func installWords(s Step) string {
	text := "Install plugin " + code(s.Plugin)
	if s.Key != "" {
		text += " with the key " + code(s.Key)
	}
	text += ", whose worker is the program " + code(s.Worker)
	for _, more := range manifestWords(s) {
		text += "; " + more
	}
	return text
}

// manifestWords says how a plugin is after a step.
func manifestWords(s Step) []string {
	var texts []string
	if s.Status != "" {
		texts = append(texts, "its status is "+code(s.Status))
	}
	if s.Provider != "" {
		texts = append(texts, "its manifest declares the sandbox provider "+code(s.Provider))
	}
	if s.Driver != "" {
		texts = append(texts, "its manifest declares the environment driver "+code(s.Driver))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Capabilities)) {
		if value := s.Capabilities[key]; value == nil {
			texts = append(texts, "its manifest does not declare "+code(key))
		} else {
			texts = append(texts, "its manifest declares "+code(key+": "+strconv.FormatBool(*value)))
		}
	}
	return texts
}

func programWords(s Step) string {
	text := "Let the worker of plugin " + code(s.Plugin) + " be started "
	var how []string
	if s.Program != "" {
		how = append(how, "from the program "+code(s.Program))
	}
	if len(s.Args) > 0 {
		how = append(how, "with the argument "+code(strings.Join(s.Args, " ")))
	}
	if len(s.Variables) > 0 {
		how = append(how, "with "+pairs(s.Variables))
	}
	if len(s.Without) > 0 {
		how = append(how, "without the variable "+code(strings.Join(s.Without, ", ")))
	}
	if len(how) == 0 {
		return text + "as it should be"
	}
	return text + strings.Join(how, ", ")
}

func environmentWords(s Step) string {
	text := "Let environment " + code(s.Environment)
	if s.Name != "" {
		text += ", named " + strconv.Quote(s.Name) + ","
	}
	text += " have the driver " + code(s.Driver)
	if len(s.Config) > 0 {
		raw, _ := json.Marshal(s.Config) // came from JSON
		text += " and the config " + code(string(raw))
	}
	if s.Status != "" {
		text += ", in status " + code(s.Status)
	}
	return text
}

func editLeaseWords(s Step) string {
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(s.Set)) {
		raw, _ := json.Marshal(s.Set[key])
		texts = append(texts, "set `metadata."+key+"` to "+code(string(raw)))
	}
	for _, key := range s.Without {
		texts = append(texts, "delete `metadata."+key+"`")
	}
	if s.ResourceID != nil {
		if *s.ResourceID == "" {
			texts = append(texts, "clear `providerLeaseId`")
		} else {
			texts = append(texts, "set `providerLeaseId` to "+code(*s.ResourceID))
		}
	}
	return "In the stored lease " + code(s.Lease) + ", " + strings.Join(texts, ", ")
}

func openWords(s Step) string {
	text := "Open a duplex channel to command " + code(s.Command) + " in lease " + code(s.Lease)
	if s.Direct {
		text += " through the sandbox driver itself, past the runtime's capability check"
	}
	if s.Channel != "" {
		text += " as channel " + code(s.Channel)
	}
	if s.Until != "" {
		text += " and wait for its output " + code(strings.TrimSpace(s.Until))
	}
	return text
}

func requestWords(s Step) string {
	if s.Line != "" {
		return "Let " + code(s.Request) + " be the line " + code(s.Line)
	}
	text := "Let request " + code(s.Request) + " be " + code(s.Method)
	if len(s.Params) > 0 {
		raw, _ := json.Marshal(s.Params)
		text += " with " + code(string(raw))
	}
	return text
}

// faultWords say what the service does in an operation that is broken.
var faultWords = map[string]string{
	"status": "answers with an error", "hang": "never answers", "reset": "resets the connection", "wrong-id": "answers with sandbox",
	"silent": "accepts the connection and says nothing", "shut": "closes the connection before it is connected",
	"shut-connected": "closes the connection as soon as it is connected", "refuse": "refuses the connection",
	"drop-input": "resets the connection when much is written to it",
}

func breakWords(s Step) string {
	what := faultWords[s.Fault]
	if what == "" {
		what = "does something else: " + s.Fault
	}
	text := "Break " + code(s.Operation) + " of the service"
	switch s.Times {
	case 0:
	case 1:
		text += " once"
	default:
		text += fmt.Sprintf(" %d times", s.Times)
	}
	text += ": it " + what
	if s.Resource != "" {
		text += " " + code(s.Resource)
	}
	if s.Message != "" {
		text += ", " + code(s.Message)
	}
	return text
}
