package eval

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

// around is a place in which people meet a message: what stands before, behind and
// between its lines when they paste it.
type around struct {
	class string
	only  []string // catalogues whose messages are met there; nil for any
	wrap  func(r filler, m string, p planted) string
}

// planted says of which message a text is.
type planted struct{ catalogue, id, code, class string }

func (p planted) codeOr(other string) string {
	if p.code != "" {
		return p.code
	}
	return other
}

func (p planted) classOr(other string) string {
	if p.class != "" {
		return p.class
	}
	return other
}

// shape is a place that is nothing but a shape of text with the message in it: %m
// as it is, %q in quotes and escaped.
func shape(texts ...string) func(filler, string, planted) string {
	return func(r filler, m string, _ planted) string {
		text := r.pick(texts)
		before, after, ok := strings.Cut(text, "%m")
		if !ok {
			before, after, _ = strings.Cut(text, "%q")
			m = fmt.Sprintf("%q", m)
		}
		return r.write(before) + m + r.write(after)
	}
}

// each puts something before every line of a text.
func each(r filler, text, before string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = r.write(before) + lines[i]
	}
	return strings.Join(lines, "\n")
}

func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// wrapLines breaks lines that are longer than width, at a blank or anywhere.
func wrapLines(s string, width int, anywhere bool) string {
	return perLine(s, func(l string) string {
		var out []string
		for r := []rune(strings.TrimRight(l, "\r")); ; {
			k := width
			if len(r) > width && !anywhere {
				for k > 0 && r[k] != ' ' {
					k--
				}
				for k = max(k, 0); k == 0 || k < len(r) && r[k] != ' '; k++ {
				} // a word that is too long has a line of its own
			}
			if len(r) <= width || k >= len(r) {
				return strings.Join(append(out, string(r)), "\n")
			}
			out = append(out, string(r[:k]))
			r = r[k:]
			if !anywhere {
				r = r[1:]
			}
		}
	})
}

var jsWorld = []string{"node", "npm", "pnpm", "react", "typescript", "paperclip"}
var goWorld = []string{"docker", "kubernetes", "terraform"}

const quietLog = "{{iso}} INFO {{name}} {{verb}}d {{n}} {{thing}}s in {{n}} ms\n"

// arounds are the places, each with a handful of looks.
var arounds = []around{
	{"bare", nil, shape("%m", "%m\n", "  %m  ")},
	{"prose", nil, shape(
		"Since the upgrade to {{ver}} our {{name}} stopped working. It says: %m\nDowngrading helps. Any ideas?",
		"Hi all,\n\nafter moving {{name}} to a new host I get\n\n%m\n\nThe {{thing}} page still loads though.\nThanks, {{person}}",
		"When I press save on the {{thing}} form, I see \"%m\" and nothing is stored.",
		"Steps: 1. open {{name}} 2. pick a {{thing}} 3. wait. Result: %m")},
	{"fence", nil, shape(
		"I get this when I {{verb}} the {{thing}}:\n\n```\n%m\n```\n\nWhat am I doing wrong?",
		"```bash\n$ {{name}} {{verb}} --all\n%m\n```",
		"<details><summary>log</summary>\n\n~~~text\n%m\n~~~\n</details>")},
	{"inline code", nil, func(r filler, m string, p planted) string {
		tick := "`"
		if strings.Contains(m, "`") {
			tick = "``"
		}
		return shape("The build of {{name}} ends with "+tick+"%m"+tick+" on version {{ver}}.")(r, m, p)
	}},
	{"emphasis", nil, shape("I searched for **%m** but found nothing for {{name}}.", "> **Error:** %m", "_%m_ is all that {{name}} prints")},
	{"mail", nil, func(r filler, m string, _ planted) string {
		return r.write("On {{date}}, {{person}} wrote:\n") + each(r, "Hello,\n\nthe nightly run failed again:\n\n"+m+"\n\nCan you look?", r.pick([]string{"> ", "> > ", ">"})) + "\n\nWill do.\n"
	}},
	{"chat", nil, shape(
		"{{person}}  [10:42 AM]\nanyone seen this on {{name}}?\n%m\n:eyes: 3  :+1: 1\n{{person}}  [10:44 AM]\nnope",
		"[{{date}} {{clock}}] {{person}}: deploy is red again\n[{{date}} {{clock}}] {{person}}: %m")},
	{"tracker", nil, shape(
		"h3. Actual result\n{noformat}\n%m\n{noformat}\nh3. Expected\nThe {{thing}} is stored.",
		"{code:java}\n{{date}} {{clock}},{{ms}} ERROR [{{name}}] %m\n{code}",
		"### What happened?\n\n%m\n\n### What did you expect?\n\nA {{thing}}\n\n### Version\n\n{{ver}}")},
	{"title", nil, shape("[Bug]: %m", "{{name}}: %m", "%m #{{N}}", "Bug: %m on {{name}} {{ver}}")},
	{"plain log", nil, shape(
		quietLog+quietLog+"{{iso}} ERROR %m\n"+quietLog,
		"{{date}} {{clock}},{{ms}} [main] INFO  {{name}} - ready\n{{date}} {{clock}},{{ms}} [worker-{{d}}] ERROR {{name}} - %m\n",
		"[{{date}} {{clock}}] production.ERROR: %m\n[{{date}} {{clock}}] production.INFO: {{thing}} stored\n",
		"{{clock}} | error | %m\n{{clock}} | info  | {{thing}} {{n}} done\n")},
	{"logfmt", nil, func(r filler, m string, _ planted) string {
		return r.write("time={{iso}} level=info msg=\"{{thing}} stored\" took={{n}}ms\ntime={{iso}} level=error ") +
			r.pick([]string{"msg=", "err=", "msg=\"request failed\" error="}) + fmt.Sprintf("%q", m) + r.write(" id={{uuid}} port={{port}}\n")
	}},
	{"json log", nil, func(r filler, m string, p planted) string {
		switch r.IntN(4) {
		case 0:
			return r.write(`{"level":"info","ts":"{{iso}}","msg":"ready"}`+"\n") + r.write(`{"level":"error","ts":"{{iso}}","caller":"{{file}}.go:{{n}}","msg":"{{thing}} not stored","error":`) + quoteJSON(m) + "}\n"
		case 1:
			return r.write(`{"level":50,"time":17{{N}}{{N}},"pid":{{pid}},"hostname":"{{name}}","err":{"type":"`) + p.classOr("Error") + `","message":` + quoteJSON(m) + `,"stack":` + quoteJSON("Error: "+m+"\n    at run (/app/dist/run.js:10:7)") + `},"msg":"request errored"}`
		case 2:
			return r.write("{\n  \"timestamp\": \"{{iso}}\",\n  \"status\": 500,\n  \"message\": ") + quoteJSON(m) + r.write(",\n  \"path\": \"{{route}}\"\n}")
		}
		return r.write(`{"log":`) + quoteJSON(r.write("{{iso}} ERROR ")+m+"\n") + r.write(`,"stream":"stderr","time":"{{iso}}"}`)
	}},
	{"json in json", nil, func(r filler, m string, _ planted) string {
		return `{"events":[{"message":` + quoteJSON(r.write(`{"severity":"ERROR","service":"{{name}}","message":`)+quoteJSON(m)+"}") + "}]}"
	}},
	{"python trace", []string{"cpython", "postgres", "mariadb"}, func(r filler, m string, p planted) string {
		class := p.classOr(r.pick([]string{"RuntimeError", "app.errors.StorageError", "sqlalchemy.exc.ProgrammingError"}))
		trace := "Traceback (most recent call last):\n  File \"{{path}}\", line {{n}}, in <module>\n    main()\n  File \"{{path}}\", line {{n}}, in {{verb}}\n    return self._{{verb}}({{thing}})\n           ^^^^^^^^^^^^^^^^^^^^^\n"
		out := r.write(trace) + class + ": " + m + "\n"
		switch r.IntN(3) {
		case 0:
			out += r.write("\nDuring handling of the above exception, another exception occurred:\n\n"+trace) + r.write("app.errors.JobAborted: job {{n}} given up\n")
		case 1:
			out = "ERROR:root:job aborted\n" + out
		}
		return out
	}},
	{"java trace", []string{"mariadb", "postgres", "docker"}, func(r filler, m string, _ planted) string {
		frames := "\tat com.example.{{name}}.{{Thing}}Dao.{{verb}}({{Thing}}Dao.java:{{n}})\n\tat java.base/java.lang.Thread.run(Thread.java:{{n}})\n"
		if r.IntN(2) == 0 {
			return r.write("Exception in thread \"main\" java.sql.SQLException: ") + m + "\n" + r.write(frames)
		}
		return r.write("{{date}} {{clock}}.{{ms}} ERROR {{pid}} --- [nio-8080-exec-{{d}}] o.e.{{Thing}}Controller : Servlet.service() threw an exception\ncom.example.JobAborted: job {{n}} given up\n"+frames) +
			"Caused by: java.sql.SQLException: " + m + "\n" + r.write(frames) + "\t... 42 more\n"
	}},
	{"node trace", jsWorld, func(r filler, m string, p planted) string {
		frames := "    at {{verb}}{{Thing}} ({{path}}:{{n}}:{{d}})\n    at async Promise.all (index {{d}})\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)"
		class := r.pick([]string{"Error", "TypeError", "RangeError"})
		if p.catalogue == "node" && p.code != "" {
			return r.write("node:internal/{{file}}:{{n}}\n    throw err;\n    ^\n\n") + class + " [" + p.code + "]: " + m + "\n" + r.write(frames) + " {\n  code: '" + p.code + "'\n}\n\nNode.js v20.11.1\n"
		}
		switch r.IntN(3) {
		case 0:
			return r.write("{{path}}:{{n}}\n        throw new Error(text)\n        ^\n\n") + class + ": " + m + "\n" + r.write(frames) + "\n"
		case 1:
			return "Uncaught (in promise) " + class + ": " + m + "\n" + r.write(frames) + "\n"
		}
		return r.write("[{{clock}}] {{name}} UnhandledPromiseRejection ") + class + ": " + m + "\n" + r.write(frames) + "\n"
	}},
	{"browser console", []string{"react", "paperclip", "node"}, shape(
		"{{file}}.js:{{n}} Uncaught Error: %m\n    at {{verb}} ({{file}}.js:{{n}}:{{d}})\n    at {{file}}.js:{{n}}:{{d}}",
		"chunk-{{hex}}.js:{{n}} Error: %m\n{{verb}} @ {{file}}.js:{{n}}\nPromise.then\n(anonymous) @ {{file}}.js:{{n}}",
		"Unhandled Runtime Error\n\nError: %m\n\nCall Stack\n{{verb}}{{Thing}}\nsrc/{{file}}.tsx ({{n}}:{{d}})")},
	{"go", goWorld, func(r filler, m string, _ planted) string {
		switch r.IntN(4) {
		case 0:
			return "panic: " + m + "\n\ngoroutine 1 [running]:\n" + r.write("main.{{verb}}({{ptr}})\n\t{{path}}:{{n}} +0x1d\nmain.main()\n\t/src/main.go:{{n}} +0x5c\nexit status 2\n")
		case 1:
			return r.write("{{date}} {{clock}} {{file}}.go:{{n}}: ") + m + "\n"
		case 2:
			return r.write("{{verb}} {{thing}}: step {{d}}: ") + m
		}
		return r.write("FATA[0{{ms}}] ") + m + "\n"
	}},
	{"rust", []string{"rustc"}, func(r filler, m string, p planted) string {
		code := ""
		if strings.HasPrefix(p.code, "E") {
			code = "[" + p.code + "]"
		}
		return r.write("   Compiling {{name}} v{{ver}} (/{{dir}}/{{name}})\nerror") + code + ": " + m + r.write("\n  --> src/{{file}}.rs:{{n}}:{{d}}\n   |\n{{n}} |     let {{thing}} = {{verb}}({{thing}});\n   |                ^^^^^^^^^ here\n   |\n   = note: see the manual\n\nFor more information about this error, try `rustc --explain`.\nerror: could not compile `{{name}}` (bin \"{{name}}\") due to 1 previous error\n")
	}},
	{"rust panic", nil, shape("thread 'main' panicked at src/{{file}}.rs:{{n}}:{{d}}:\n%m\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n")},
	{"kubectl", []string{"kubernetes"}, shape(
		"$ kubectl apply -f {{file}}.yaml\ndeployment.apps/{{name}} unchanged\nerror: %m\n",
		"Error from server (BadRequest): error when creating \"{{file}}.yaml\": %m",
		"Error from server (Invalid): %m\n",
		"E0731 06:08:51.207328       1 {{file}}.go:{{n}}] \"{{Thing}} sync failed\" err=%q",
		"  Warning  Failed  12s (x3 over 40s)  kubelet  %m\n",
		"W0731 06:08:51.207328       1 {{file}}.go:{{n}}] %m\nI0731 06:08:52.000001       1 {{file}}.go:{{n}}] {{thing}} cache synced\n")},
	{"docker", []string{"docker"}, shape(
		"docker: Error response from daemon: %m\nSee 'docker run --help'.",
		"$ docker compose up -d\n[+] Running 2/3\n ✔ Network {{name}}_default  Created\n ✘ Container {{name}}-1  Error\nError response from daemon: %m\n",
		"Error response from daemon: %m",
		"#12 [build 3/7] RUN make {{thing}}\n#12 ERROR: %m\n------\n > [build 3/7] RUN make {{thing}}:\n------\n",
		"time=\"{{iso}}\" level=error msg=%q")},
	{"journal", []string{"systemd"}, shape(
		"{{syslog}} {{name}} systemd[1]: %m\n{{syslog}} {{name}} systemd[1]: Reached target Basic System.\n",
		"{{syslog}} {{name}} systemd[1]: %m\n░░ Subject: see the manual\n░░ Defined-By: systemd\n",
		"● {{name}}.service - The {{thing}} service\n     Active: failed\n\n{{syslog}} host systemd[1]: %m\n")},
	{"syslog", nil, shape(
		"{{syslog}} {{name}} {{name}}[{{pid}}]: started\n{{syslog}} {{name}} {{name}}[{{pid}}]: %m\n",
		"<131>1 {{iso}} {{name}} {{name}} {{pid}} - - %m")},
	{"postgres", []string{"postgres"}, shape(
		"{{date}} {{clock}}.{{ms}} UTC [{{pid}}] ERROR:  %m\n{{date}} {{clock}}.{{ms}} UTC [{{pid}}] STATEMENT:  SELECT * FROM {{thing}}s WHERE id = $1\n",
		"{{date}} {{clock}}.{{ms}} CET [{{pid}}] {{person}}@{{thing}} FATAL:  %m\n",
		"ERROR:  %m\nLINE 1: select {{thing}} from {{name}};\n               ^\n",
		"{{name}}=# select {{verb}}_{{thing}}({{n}});\nERROR:  %m\nCONTEXT:  SQL function \"{{verb}}_{{thing}}\" statement 1\n",
		"psycopg2.errors.InternalError_: %m\nCONTEXT:  PL/pgSQL function {{verb}}() line {{d}} at RAISE",
		"PG::Error: ERROR:  %m", "org.postgresql.util.PSQLException: ERROR: %m\n  Position: {{n}}")},
	{"npm", []string{"npm"}, func(r filler, m string, _ planted) string {
		tag := r.pick([]string{"npm ERR! ", "npm error "})
		return tag + "code E" + r.pick([]string{"RESOLVE", "404", "USAGE"}) + "\n" + each(r, m, tag) + "\n" + tag + "\n" + tag + r.write("A complete log of this run can be found in:\n") + tag + r.write("    /home/dev/.npm/_logs/{{date}}T10_00_00_000Z-debug-0.log\n")
	}},
	{"pnpm", []string{"pnpm"}, func(r filler, m string, p planted) string {
		return r.write("Scope: all {{d}} workspace projects\n ") + p.codeOr("ERR_PNPM_FAILED") + "  " + m + "\n\n" + r.write("This error happened while installing a direct dependency of /{{dir}}/{{name}}\n")
	}},
	{"tsc", []string{"typescript"}, func(r filler, m string, p planted) string {
		code := p.codeOr("TS2000")
		switch r.IntN(5) {
		case 0:
			return r.write("src/{{file}}.ts:{{n}}:{{d}} - error ") + code + ": " + m + r.write("\n\n{{n}}   const {{thing}} = {{verb}}({{n}})\n            ~~~~~~\n\n\nFound 1 error in src/{{file}}.ts:{{n}}\n")
		case 1:
			return r.write("src/{{file}}.tsx({{n}},{{d}}): error ") + code + ": " + m + "\n"
		case 2:
			return r.write("ERROR in ./src/{{file}}.ts:{{n}}:{{d}}\n") + code + ": " + m + r.write("\n    {{n}} | import {{thing}}\n  > {{n}} | {{verb}}()\n")
		case 3:
			return m + r.pick([]string{" ts(" + strings.TrimPrefix(code, "TS") + ")", "ts(" + strings.TrimPrefix(code, "TS") + ")"})
		}
		return r.write("Failed to compile.\n\n./src/{{file}}.tsx:{{n}}:{{d}}\nType error: ") + m + "\n"
	}},
	{"terraform", []string{"terraform"}, func(r filler, m string, _ planted) string {
		text := r.write("Error: ") + m + r.write("\n\n  on {{file}}.tf line {{n}}, in resource \"{{thing}}\" \"main\":\n  {{n}}:   name = var.{{thing}}\n")
		if r.IntN(3) == 0 {
			return text
		}
		return "╷\n" + perLine(wrapLines(text, 76, false), func(l string) string { return "│ " + l }) + "\n╵\n"
	}},
	{"git", []string{"git"}, shape(
		"$ git push origin main\nfatal: %m\n", "error: %m\nhint: see the manual\n", "{{person}}@{{name}}:~/src$ git {{verb}}\nfatal: %m",
		"warning: %m", "remote: error: %m\nTo https://git.example.org/{{name}}.git\n", "> git -c user.useConfigOnly=true commit --quiet\nfatal: %m\n")},
	{"mysql", []string{"mariadb"}, func(r filler, m string, p planted) string {
		n := r.write("{{d}}{{ms}}")
		switch r.IntN(4) {
		case 0:
			return "ERROR " + n + " (HY000): " + m
		case 1:
			return "SQLSTATE[HY000]: General error: " + n + " " + m + r.write(" (SQL: update `{{thing}}s` set `a` = {{n}})")
		case 2:
			return "Error: " + p.codeOr("ER_X") + ": " + m + r.write("\n    at Query.Sequence._packetToError (/app/node_modules/mysql/lib/protocol/Sequence.js:47:14)")
		}
		return r.write("{{date}} {{clock}} {{d}} [ERROR] ") + m + "\n"
	}},
	{"actions", nil, shape(
		"{{gha}} ##[group]Run make {{thing}}\n{{gha}} make {{thing}}\n{{gha}} ##[endgroup]\n{{gha}} ##[error]%m\n{{gha}} ##[error]Process completed with exit code 1.\n",
		"::error file=src/{{file}}.js,line={{n}},col={{d}}::%m",
		"Run make {{thing}}\nError: %m\nError: Process completed with exit code 2.",
		"build\tRun make\t{{gha}} %m\nbuild\tRun make\t{{gha}} make: *** [all] Error 1\n")},
	{"colour", nil, func(r filler, m string, _ planted) string {
		switch r.IntN(3) {
		case 0:
			return "\x1b[1m\x1b[31merror\x1b[0m\x1b[1m: " + m + "\x1b[0m\n"
		case 1:
			return "\x1b[31m" + strings.ReplaceAll(m, " ", "\x1b[0m \x1b[31m") + "\x1b[39m"
		}
		return "[31m" + m + "[0m"
	}},
	{"windows", nil, func(r filler, m string, _ planted) string {
		return strings.ReplaceAll(r.write("C:\\Users\\dev> {{name}}.exe /{{verb}}\n{{name}}.exe : ")+m+r.write("\nAt line:1 char:1\n+ {{name}}.exe /{{verb}}\n+ ~~~~~~~~~\n    + CategoryInfo          : NotSpecified\n"), "\n", "\r\n")
	}},
	{"wrapped at blanks", nil, func(r filler, m string, _ planted) string {
		width := 60 + r.IntN(40)
		return wrapLines(r.write("The {{name}} host was moved to another rack on {{date}} and since then the {{verb}} of each {{thing}} ends in an error that nobody here has met before:\n\n")+m+r.write("\n\nWe have tried to restart {{name}} and to {{verb}} every {{thing}} again, to no avail whatsoever.\n"), width, false)
	}},
	{"wrapped at a column", nil, func(r filler, m string, _ planted) string {
		width := []int{80, 100, 120}[r.IntN(3)]
		return wrapLines(r.write("{{date}} {{clock}} {{name}} has been asked to {{verb}} {{N}} {{thing}}s from the store at {{url}} and does so\n{{date}} {{clock}} ERROR ")+m+"\n", width, true)
	}},
	{"html", nil, func(r filler, m string, _ planted) string {
		return r.write("<h1>Server Error</h1>\n<pre>") + html.EscapeString(m) + r.write("</pre>\n<hr><address>{{name}}/{{ver}}</address>")
	}},
	{"compose", nil, func(r filler, m string, _ planted) string {
		return each(r, r.write("listening on {{port}}\n{{clock}} ERROR ")+m+r.write("\nwaiting for {{name}}"), r.pick([]string{"web-1  | ", "api_1       | ", "app-worker-1  | "}))
	}},
	{"interleaved", nil, func(r filler, m string, _ planted) string {
		return r.write("web-1     | {{clock}} GET {{route}} {{status}}\nworker-1  | {{clock}} ERROR ") + m + r.write("\nweb-1     | {{clock}} GET {{route}} {{status}}\nworker-1  | {{clock}} {{thing}} {{n}} put back\n")
	}},
	{"typed by hand", nil, func(r filler, m string, _ planted) string {
		switch r.IntN(5) {
		case 0: // another case at the start
			if c := m[0]; c >= 'A' && c <= 'Z' {
				return strings.ToLower(m[:1]) + m[1:]
			}
			return strings.ToUpper(m[:1]) + m[1:]
		case 1: // no full stop
			return strings.TrimRight(m, ".!") + "\n"
		case 2:
			return strings.NewReplacer("'", "\u2019", "\"", "\u201d", "...", "\u2026", " - ", " \u2013 ", "--", "\u2014").Replace(m)
		case 3:
			return strings.NewReplacer("'", "\"", "\"", "'", "`", "'").Replace(m)
		}
		return strings.ReplaceAll(m, ", ", ",  ")
	}},
	{"translated", nil, shape(
		"我在升级到 {{ver}} 之后遇到了这个错误：\n%m\n请问怎么解决？", "アップデート後に次のエラーが出ます。\n\n%m\n\n解決方法を教えてください", "После обновления до {{ver}} вижу ошибку: %m",
		"Desde ayer el servicio {{name}} falla con este mensaje:\n%m\n¿Alguna idea?", "Beim Start von {{name}} kommt „%m“ und sonst nichts.")},
	{"table", nil, shape("| step | result |\n|---|---|\n| {{verb}} | ok |\n| {{thing}} | %m |\n", "{{name}}\t{{n}}\t%m\t{{iso}}")},
	{"repeated", nil, func(r filler, m string, p planted) string {
		return r.write("{{iso}} ERROR ") + m + "\n" + r.write("{{iso}} ERROR ") + m + "\n" + r.write("{{iso}} INFO next try in {{d}} s\n{{iso}} ERROR ") + m + "\n"
	}},
	{"value of a program", nil, func(r filler, m string, _ planted) string {
		switch r.IntN(5) {
		case 0:
			return r.write("{{thing}} failed: RuntimeError(") + pythonString(m) + ")"
		case 1:
			return "Err(\"" + strings.ReplaceAll(m, `"`, `\"`) + "\")"
		case 2:
			return r.write("{Status:500 Reason:") + m + "}"
		case 3:
			return r.write("{{thing}} result: [Error: ") + m + "]"
		}
		return r.write("assertion failed: expected nil, got: ") + fmt.Sprintf("%q", m)
	}},
	{"wrapper", nil, shape("{{verb}} of {{thing}} {{n}} went wrong: %m", "{{name}}: {{verb}}: %m", "Job {{uuid}} aborted after {{frac}} s ({{name}}): %m")},
	{"pull request diff", nil, func(r filler, m string, _ planted) string {
		return each(r, r.write("start\n")+m+"\nend", "+ ")
	}},
	{"long log", nil, func(r filler, m string, _ planted) string {
		var b strings.Builder
		at := r.IntN(40)
		for i := range 40 {
			if i == at {
				b.WriteString(r.write("{{iso}} ERROR {{name}} ") + m + "\n")
			}
			b.WriteString(r.write(r.pick(ordinaryShapes)) + "\n")
		}
		return b.String()
	}},
}

// pythonString writes a text as Python's repr does.
func pythonString(s string) string {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s) + `"`
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(s) + "'"
}
