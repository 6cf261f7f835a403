package pattern

// sample is ordinary log text: servers, builds, test runs and prose about them.
// Keys that stand in it are dear, for they would be looked up at every line of
// every log. It is made up; only the words matter.
const sample = `2026-03-01T08:15:02.113Z INFO server listening on http://127.0.0.1:8080 (pid 4121)
2026-03-01T08:15:02.480Z DEBUG config loaded from /etc/app/config.yaml in 12ms
2026-03-01T08:15:03.001Z WARN connection pool at 87% of its limit, retrying in 250ms
2026-03-01T08:15:03.744Z ERROR request failed: method=GET path=/api/v1/users status=500 duration=35ms
Mar  1 08:15:04 host systemd[1]: Started Session 42 of user root.
Mar  1 08:15:05 host sshd[24200]: Accepted publickey for deploy from 10.0.0.12 port 51514 ssh2
Mar  1 08:15:05 host kernel: [12345.678901] usb 1-1: new high-speed USB device number 4 using xhci_hcd
127.0.0.1 - - [01/Mar/2026:08:15:06 +0000] "GET /index.html HTTP/1.1" 200 5120 "-" "Mozilla/5.0 (X11; Linux x86_64)"
10.0.0.7 - admin [01/Mar/2026:08:15:06 +0000] "POST /login HTTP/1.1" 302 0 "https://www.example.com/" "curl/7.88.1"
level=info ts=2026-03-01T08:15:07Z caller=main.go:120 msg="starting component" component=scheduler version=1.4.2
{"level":"info","time":"2026-03-01T08:15:07Z","message":"request completed","method":"GET","url":"/health","statusCode":200}
{"level":"error","logger":"http","msg":"connection refused","error":"dial tcp 10.0.0.3:5432: connect: connection refused"}
##[group]Run actions/checkout@v4
##[endgroup]
[command]/usr/bin/git version
git version 2.39.5
npm WARN deprecated package@1.0.0: this version is no longer supported
npm ERR! code ELIFECYCLE
npm ERR! errno 1
added 583 packages, and audited 584 packages in 29s
found 0 vulnerabilities
> app@1.0.0 build
> tsc && vite build
transforming (1841) src/components/button/index.tsx
dist/assets/index-05805975.js   857.71 kB
Compiling library v0.3.1 (/home/user/project)
Finished release [optimized] target(s) in 12.34s
Downloading https://registry.example.com/package/-/package-1.2.3.tgz
ok  	example.com/project/internal/module	0.123s
--- PASS: TestSomething (0.00s)
--- FAIL: TestOther (0.01s)
FAIL	example.com/project/cmd/tool	0.456s
PASS src/utils/format.test.ts (5.123 s)
Tests:       3 failed, 120 passed, 123 total
tests/test_module.py::test_function PASSED                  [ 33%]
=================== 3 passed, 1 warning in 0.04s ===================
Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/module/core.py", line 123, in main
    raise ValueError(message)
ValueError: invalid value for parameter
Exception in thread "main" java.lang.IllegalStateException: failed to load
	at org.springframework.boot.SpringApplication.run(SpringApplication.java:303)
	at com.example.service.UserService.find(UserService.java:42)
Caused by: java.io.IOException: Stream closed
    at Object.<anonymous> (/app/src/index.js:10:15)
    at Module._compile (node:internal/modules/cjs/loader:1105:14)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
panic: runtime error: index out of range
goroutine 1 [running]:
main.main()
	/go/src/app/main.go:15 +0x1d
Step 4/12 : RUN apt-get update && apt-get install -y curl
#12 0.412 Reading package lists...
Get:1 http://archive.example.org/debian bookworm InRelease [151 kB]
Successfully built 3f1d897a7c01
Pulling from library/nginx
Status: Downloaded newer image for nginx:latest
Waiting for the database to be ready, attempt 3 of 10
The job has been queued and will start when a worker is available
Connection closed by remote host, trying again
User logged in from the new device, session created
File not found, using the default value instead
Process exited with code 0 after 1.2 seconds
Started application in 6.051 seconds (JVM running for 6.872)
Received connection request from client, type=data name=default key=value id=12
Unable to open the file for reading: No such file or directory
cannot access the path because it is not a valid directory
could not connect to the server, the operation timed out
Invalid argument given to the function, expected a string but got null
Checking the cache for the current version of the object
Processing message from the queue, size 123 bytes, user test, state active, source local
Cleaning up temporary files; deleting old backups and removing stale locks
Unexpected token in JSON at position 0, please check that the input is correct
This is only used when there are more than one of these in the same table or list
you can use this option with any command, see the manual for more information about it
when the value has been set to true, all other settings will be ignored by default
`
