package eval

import (
	"math/rand/v2"
	"strings"
)

// OrdinaryLines makes n lines as programs write them when nothing is wrong, or
// nothing that a catalogue of messages would know: the same on every run.
func OrdinaryLines(n int) []string {
	r := filler{rand.New(rand.NewPCG(11, 12))}
	out := make([]string, n)
	for i := range out {
		out[i] = r.write(ordinaryShapes[i%len(ordinaryShapes)])
	}
	return out
}

// ordinaryShapes are the shapes of ordinary lines, by who writes them.
var ordinaryShapes = strings.Split(strings.TrimSpace(`
{{ip}} - - [{{apache}}] "{{method}} {{route}} HTTP/1.1" {{status}} {{N}} "-" "Mozilla/5.0 (X11; Linux x86_64; rv:{{n}}.0)"
{{ip}} - {{person}} [{{apache}}] "{{method}} /{{thing}}/{{n}}.html HTTP/2.0" {{status}} {{N}} "https://{{name}}.example.org/" "curl/{{ver}}"
{{date}} {{clock}} [notice] {{pid}}#{{pid}}: signal process started
{{date}} {{clock}} [notice] {{pid}}#{{pid}}: start worker process {{pid}}
{{date}} {{clock}} [warn] {{pid}}#{{pid}}: *{{n}} a client request body is buffered to a temporary file /var/cache/nginx/{{n}}
{{date}} {{clock}} [info] {{pid}}#{{pid}}: *{{N}} client {{ip}} closed keepalive connection
[{{apache}}] [mpm_event:notice] [pid {{pid}}:tid {{N}}] AH00489: Apache/2.4 configured -- resuming normal operations
[{{apache}}] [core:notice] [pid {{pid}}] AH00094: Command line: '/usr/sbin/apache2'
{"level":"info","ts":17{{N}}.{{ms}},"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"{{ip}}","method":"{{method}}","uri":"{{route}}"},"status":{{status}},"duration":0.{{ms}}}
haproxy[{{pid}}]: {{ip}}:{{port}} [{{apache}}] http-in {{name}}/srv{{d}} 0/0/{{n}}/{{n}}/{{n}} {{status}} {{N}} - - ---- 1/1/0/0/0 0/0 "{{method}} {{route}} HTTP/1.1"
[{{iso}}] "{{method}} {{route}} HTTP/2" {{status}} - via_upstream - "-" 0 {{N}} {{n}} {{n}} "-" "grpc-go/{{ver}}" "{{uuid}}" "{{name}}:{{port}}"
[{{iso}}][{{pid}}][info][upstream] cm init: all clusters initialized
[{{iso}}][{{pid}}][info][config] all dependencies initialized. starting workers
traefik | time="{{iso}}" level=debug msg="Serving default certificate for request: \"{{name}}.example.org\""
127.0.0.1 - {{person}} [{{date}} {{clock}}] varnish hit {{n}} for /{{thing}}/{{hex}}.css
{{gha}} ##[group]Run actions/checkout@v4
{{gha}} ##[endgroup]
{{gha}} Syncing repository: {{name}}/{{thing}}
{{gha}} [command]/usr/bin/git config --local --get-regexp core\.sshCommand
{{gha}} Cache restored from key: {{name}}-{{sha}}
{{gha}} Post job cleanup.
{{gha}} Prepare all required actions
{{gha}} Getting action download info
{{gha}} Complete job name: {{name}} / {{verb}} ({{ver}})
{{gha}}   node-version: {{d}}
Running with gitlab-runner {{ver}} ({{hex}})
  on {{name}}-runner-{{d}} {{hex}}, system ID: s_{{hex}}
Using docker image sha256:{{sha}} for {{name}}:{{ver}} with digest {{name}}@sha256:{{sha}} ...
section_start:17{{N}}:prepare_script
Uploading artifacts as "archive" to coordinator... 201 Created  id={{N}} responseStatus=201 Created token=glcbt-64
Job succeeded
[Pipeline] { (Build {{name}})
[Pipeline] // stage
+ ./gradlew :{{name}}:assemble --no-daemon
Finished: SUCCESS
Started by user {{person}}
Agent name: 'Hosted Agent' Agent machine name: '{{name}}-{{n}}'
##[section]Starting: {{verb}} {{thing}}
travis_time:end:{{hex}}:start={{N}}{{N}},finish={{N}}{{N}},duration={{N}}
{{syslog}} {{name}} kernel: [{{N}}.{{N}}] usb {{d}}-{{d}}: new high-speed USB device number {{n}} using xhci_hcd
{{syslog}} {{name}} kernel: [{{N}}.{{N}}] eth0: renamed from veth{{hex}}
{{syslog}} {{name}} kernel: [{{N}}.{{N}}] br-{{hex}}: port {{d}}(veth{{hex}}) entered blocking state
{{syslog}} {{name}} kernel: [{{N}}.{{N}}] EXT4-fs (sda{{d}}): mounted filesystem with ordered data mode. Quota mode: none.
{{syslog}} {{name}} kernel: audit: type=1400 audit(17{{N}}.{{ms}}:{{n}}): apparmor="STATUS" operation="profile_replace" profile="unconfined" name="{{name}}" pid={{pid}}
[    {{d}}.{{N}}] Linux version {{ver}}-generic (buildd@{{name}}) (gcc {{ver}}) #{{n}}-Ubuntu SMP
[    {{d}}.{{N}}] ACPI: PM-Timer IO Port: 0x608
[    {{d}}.{{N}}] pci 0000:00:{{d}}f.{{d}}: [8086:{{N}}] type 00 class 0x0{{n}}00
[    {{d}}.{{N}}] systemd[1]: Hostname set to <{{name}}>.
[   {{n}}.{{N}}] input: Power Button as /devices/LNXSYSTM:00/LNXPWRBN:00/input/input{{d}}
{{syslog}} {{name}} CRON[{{pid}}]: (root) CMD (/usr/lib/{{name}}/{{verb}} --quiet)
{{syslog}} {{name}} sshd[{{pid}}]: Accepted publickey for {{person}} from {{ip}} port {{port}} ssh2: ED25519 SHA256:{{hex}}
{{syslog}} {{name}} sshd[{{pid}}]: pam_unix(sshd:session): session opened for user {{person}}(uid={{N}}) by (uid=0)
{{syslog}} {{name}} sshd[{{pid}}]: Received disconnect from {{ip}} port {{port}}:11: disconnected by user
{{syslog}} {{name}} sudo:   {{person}} : TTY=pts/{{d}} ; PWD=/home/{{person}} ; USER=root ; COMMAND=/usr/bin/apt update
{{syslog}} {{name}} dhclient[{{pid}}]: DHCPACK of {{ip}} from {{ip}}
{{syslog}} {{name}} NetworkManager[{{pid}}]: <info>  [17{{N}}.{{N}}] device (wlp{{d}}s0): state change: config -> ip-config (reason 'none')
{{syslog}} {{name}} avahi-daemon[{{pid}}]: Joining mDNS multicast group on interface veth{{hex}}.IPv6 with address fe80::{{d}}.
{{syslog}} {{name}} systemd-logind[{{pid}}]: New session {{n}} of user {{person}}.
{{syslog}} {{name}} systemd-resolved[{{pid}}]: Clock change detected. Flushing caches.
{{syslog}} {{name}} dbus-daemon[{{pid}}]: [system] Activating via systemd: service name='org.freedesktop.hostname1' requested by ':1.{{n}}'
{{syslog}} {{name}} postfix/smtp[{{pid}}]: {{hex}}: to=<{{person}}@example.org>, relay=mx.example.org[{{ip}}]:25, delay=0.{{ms}}, status=sent (250 2.0.0 Ok)
{{syslog}} {{name}} dovecot: imap-login: Login: user=<{{person}}>, method=PLAIN, rip={{ip}}, lip={{ip}}, TLS, session=<{{hex}}>
{{syslog}} {{name}} chronyd[{{pid}}]: Selected source {{ip}} (ntp.example.org)
{{syslog}} {{name}} fstrim[{{pid}}]: /boot: {{n}}.{{d}} MiB trimmed on /dev/sda{{d}}
{{syslog}} {{name}} snapd[{{pid}}]: storehelpers.go:{{n}}: cannot refresh: snap has no updates available: "core22"
{{syslog}} {{name}} smartd[{{pid}}]: Device: /dev/sda [SAT], SMART Usage Attribute: 194 Temperature_Celsius changed from {{n}} to {{n}}
{{syslog}} {{name}} named[{{pid}}]: zone {{name}}.example.org/IN: loaded serial 2025{{N}}
{{syslog}} {{name}} rsyslogd: [origin software="rsyslogd" swVersion="{{ver}}" x-pid="{{pid}}" x-info="https://www.rsyslog.com"] rsyslogd was HUPed
{{date}} {{clock}}.{{ms}} UTC [{{pid}}] LOG:  {{thing}} worker took {{n}} rows in {{frac}} s
{{date}} {{clock}} {{d}} [Note] {{name}} plugin is on, {{n}} {{thing}}s known
{{pid}}:M {{apache}} * Background saving started by pid {{pid}}
{{pid}}:M {{apache}} * DB saved on disk
{{pid}}:C {{apache}} * RDB: {{d}} MB of memory used by copy-on-write
{{pid}}:M {{apache}} * {{n}} changes in 300 seconds. Saving...
{"t":{"$date":"{{iso}}"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"Connection accepted","attr":{"remote":"{{ip}}:{{port}}","connectionId":{{n}},"connectionCount":{{d}}}}
{"t":{"$date":"{{iso}}"},"s":"I","c":"STORAGE","id":22430,"ctx":"Checkpointer","msg":"WiredTiger message","attr":{"message":"saving checkpoint snapshot min: {{n}}"}}
sqlite> select {{thing}} from {{name}} order by {{n}};
I{{N}} {{clock}}.{{N}}       1 {{file}}.go:{{n}}] "Adding {{thing}}" pod="default/{{name}}-{{hex}}"
{{iso}} kubelet[{{pid}}]: I0506 {{clock}}.{{N}} {{pid}} {{file}}.go:{{n}}] "SyncLoop ADD" source="api" pods=["default/{{name}}-{{hex}}"]
pod/{{name}}-{{hex}}-x{{d}}k{{d}}p   1/1     Running   0          {{n}}m
deployment.apps/{{name}} configured
service/{{name}} unchanged
Waiting for deployment "{{name}}" rollout to finish: 1 of {{d}} updated replicas are available...
deployment "{{name}}" successfully rolled out
  Normal  Pulled     {{n}}s   kubelet            Container image "{{name}}:{{ver}}" already present on machine
  Normal  Scheduled  {{n}}s   default-scheduler  Successfully assigned default/{{name}}-{{hex}} to node-{{d}}
{"level":"info","ts":"{{iso}}","caller":"etcdserver/server.go:{{n}}","msg":"triggering snapshot","local-member-id":"{{hex}}","local-member-applied-index":{{N}}}
{"level":"warn","ts":"{{iso}}","caller":"etcdserver/util.go:{{n}}","msg":"apply request took too long","took":"{{n}}.{{d}}ms","expected-duration":"100ms"}
[INFO] {{ip}}:{{port}} - {{N}} "A IN {{name}}.default.svc.cluster.local. udp 54 false 512" NOERROR qr,aa,rd 106 0.000{{n}}s
.:53
NAME: {{name}} LAST DEPLOYED: {{date}} NAMESPACE: default STATUS: deployed REVISION: {{d}}
#{{d}} [internal] load build definition from Dockerfile
#{{d}} transferring dockerfile: {{N}}B done
#{{d}} DONE 0.{{d}}s
#{{n}} {{d}}.{{ms}} Reading package lists...
#{{n}} CACHED
#{{n}} exporting layers {{d}}.{{d}}s done
#{{n}} naming to docker.io/library/{{name}}:{{ver}} done
Step {{d}}/{{n}} : COPY --from=build /src/{{name}} /usr/bin/{{name}}
 ---> Using cache
 ---> {{hex}}
Successfully tagged {{name}}:{{ver}}
{{hex}}: Pull complete
{{hex}}: Downloading [=====>      ]  {{n}}MB/{{n}}MB
Digest: sha256:{{sha}}
 ✔ Container {{name}}-{{d}}  Started  0.{{d}}s
[+] Building {{frac}}s ({{n}}/{{n}}) FINISHED
gcc -O2 -Wall -g -c -o build/{{file}}.o src/{{file}}.c
src/{{file}}.c:{{n}}:{{d}}: note: in expansion of macro '{{thing}}_MAX'
[ {{n}}%] Building CXX object src/CMakeFiles/{{name}}.dir/{{file}}.cpp.o
-- Found OpenSSL: /usr/lib/x86_64-linux-gnu/libcrypto.so (found version "{{ver}}")
-- Configuring done ({{d}}.{{d}}s)
checking whether the C compiler works... yes
checking for {{thing}}.h... no
make[{{d}}]: Entering directory '/{{dir}}/{{name}}'
make[{{d}}]: Nothing to be done for 'all'.
   Compiling {{name}} v{{ver}}
    Finished dev [unoptimized + debuginfo] target(s) in {{frac}}s
     Running unittests src/lib.rs (target/debug/deps/{{name}}-{{hex}})
test {{name}}::tests::{{verb}}s_{{thing}} ... ok
test result: ok. {{n}} passed; 0 failed; 0 ignored; 0 measured; {{d}} filtered out; finished in {{frac}}s
warning: `+"`{{name}}`"+` (lib) generated {{d}} warnings
ok  	example.org/{{name}}/{{thing}}	{{frac}}s
--- PASS: Test{{Thing}}/{{verb}}s_twice ({{frac}}s)
=== RUN   Test{{Thing}}{{n}}
go: downloading example.org/{{name}} v{{ver}}
?   	example.org/{{name}}/{{thing}}	[no test files]
[INFO] --- maven-compiler-plugin:{{ver}}:compile (default-compile) @ {{name}} ---
[INFO] Changes detected - recompiling the module!
[INFO] Tests run: {{n}}, Failures: 0, Errors: 0, Skipped: {{d}}, Time elapsed: {{frac}} s - in com.example.{{Thing}}Test
[INFO] BUILD SUCCESS
[INFO] Total time:  {{frac}} s
> Task :{{name}}:compileKotlin UP-TO-DATE
BUILD SUCCESSFUL in {{n}}s
{{n}} actionable tasks: {{d}} executed, {{n}} up-to-date
webpack {{ver}} compiled successfully in {{N}} ms
asset {{file}}.{{hex}}.js {{n}} KiB [emitted] [immutable] [minimized] (name: {{file}})
✓ {{n}} modules transformed.
dist/assets/{{file}}-{{hex}}.css   {{n}}.{{d}} kB │ gzip: {{d}}.{{d}} kB
  VITE v{{ver}}  ready in {{n}} ms
  ➜  Local:   http://localhost:{{port}}/
 ✓ Compiled /{{thing}} in {{n}}ms ({{N}} modules)
info  - Linting and checking validity of types
Found 0 errors. Watching for file changes.
[{{clock}}] File change detected. Starting incremental compilation...
 PASS  src/{{file}}.test.ts ({{frac}} s)
  ✓ {{verb}}s a {{thing}} ({{n}} ms)
Tests:       {{n}} passed, {{n}} total
Snapshots:   {{d}} passed, {{d}} total
tests/test_{{thing}}.py::test_{{verb}}_raises_error PASSED [ {{n}}%]
============================= {{n}} passed, {{d}} warnings in {{frac}}s =============================
collected {{n}} items / {{d}} deselected / {{n}} selected
Get:{{d}} http://deb.example.org/debian bookworm/main amd64 {{name}} amd64 {{ver}}-{{d}} [{{n}} kB]
Setting up {{name}} ({{ver}}-{{d}}) ...
Processing triggers for libc-bin ({{ver}}) ...
0 upgraded, 0 newly installed, 0 to remove and {{n}} not upgraded.
Reading state information...
Unpacking {{name}} ({{ver}}) over ({{ver}}) ...
Collecting {{thing}}=={{ver}}
  Downloading {{thing}}-{{ver}}-py3-none-any.whl ({{n}} kB)
Requirement already satisfied: {{thing}} in ./venv/lib/python3.11/site-packages ({{ver}})
Successfully installed {{thing}}-{{ver}} {{name}}-{{ver}}
added {{n}} packages, and audited {{n}} packages in {{n}}s
found 0 vulnerabilities
{{n}} packages are looking for funding
npm WARN deprecated {{thing}}@{{ver}}: use {{name}} instead
npm notice New minor version of npm available! {{ver}} -> {{ver}}
> {{name}}@{{ver}} build
> {{verb}} --production && node scripts/{{file}}.js
Progress: resolved {{n}}, reused {{n}}, downloaded {{d}}, added {{n}}, done
Lockfile is up to date, resolution step is skipped
➤ YN0000: └ Completed in {{d}}s {{n}}ms
[4/4] Building fresh packages...
Done in {{frac}}s.
Fetching {{thing}} {{ver}}
Bundle complete! {{n}} Gemfile dependencies, {{n}} gems now installed.
==> Pouring {{thing}}--{{ver}}.arm64_sonoma.bottle.tar.gz
  Fetched {{n}} kB in {{d}}s ({{n}} kB/s)
[{{apache}}] "GET /static/{{name}}/{{file}}.css HTTP/1.1" 304 0
{{date}} {{clock}},{{ms}} INFO django.server "{{method}} {{route}} HTTP/1.1" {{status}} {{N}}
System check identified no issues (0 silenced).
  Applying {{name}}.00{{d}}{{d}}_{{verb}}_{{thing}}... OK
Watching for file changes with StatReloader
[{{date}} {{clock}} +0000] [{{pid}}] [INFO] Booting worker with pid: {{pid}}
[{{date}} {{clock}} +0000] [{{pid}}] [INFO] Listening at: http://0.0.0.0:{{port}} ({{pid}})
INFO:     {{ip}}:{{port}} - "{{method}} {{route}} HTTP/1.1" {{status}} OK
INFO:     Application startup complete.
[{{date}} {{clock}},{{ms}}: INFO/MainProcess] Task {{name}}.tasks.{{verb}}_{{thing}}[{{uuid}}] received
[{{date}} {{clock}},{{ms}}: INFO/ForkPoolWorker-{{d}}] Task {{name}}.tasks.{{verb}}[{{uuid}}] succeeded in {{frac}}s: None
[{{iso}}] ({{file}}.py:{{n}}) INFO - Marking task as SUCCESS. dag_id={{name}}, task_id={{verb}}, execution_date=2025{{N}}
Epoch {{d}}/{{n}} - loss: 0.{{ms}} - accuracy: 0.{{ms}} - val_loss: 0.{{ms}}
 {{n}}%|████      | {{n}}/{{N}} [00:{{d}}{{d}}<00:{{d}}{{d}}, {{frac}}it/s]
{{date}} {{clock}}.{{ms}}  INFO {{pid}} --- [           main] o.s.b.w.embedded.tomcat.TomcatWebServer  : Tomcat initialized with port(s): {{port}} (http)
{{date}} {{clock}}.{{ms}}  INFO {{pid}} --- [           main] com.example.{{Thing}}Application : Started {{Thing}}Application in {{frac}} seconds (JVM running for {{frac}})
{{date}} {{clock}}.{{ms}} DEBUG {{pid}} --- [nio-8080-exec-{{d}}] org.hibernate.SQL : select t.id from {{thing}} t where t.owner=?
{{date}} {{clock}}.{{ms}}  WARN {{pid}} --- [ scheduling-{{d}}] c.e.{{name}}.{{Thing}}Job : queue holds {{n}} entries, more than usual
HikariPool-{{d}} - Start completed.
[{{date}} {{clock}},{{ms}}] INFO [GroupCoordinator {{d}}]: Stabilized group {{name}} generation {{n}} (__consumer_offsets-{{n}}) (kafka.coordinator.group.GroupCoordinator)
[{{date}} {{clock}},{{ms}}] INFO [Log partition={{thing}}-{{d}}, dir=/var/lib/kafka] Rolled new log segment at offset {{N}} in {{d}} ms. (kafka.log.Log)
{{date}} {{clock}},{{ms}} [myid:{{d}}] - INFO  [SessionTracker:ZooKeeperServer@{{n}}] - Expiring session 0x{{hex}}, timeout of {{N}}ms exceeded
[{{date}}T{{clock}},{{ms}}][INFO ][o.e.c.m.MetadataIndexTemplateService] [{{name}}] adding index template [{{thing}}] for index patterns [{{thing}}-*]
[GC (Allocation Failure) [PSYoungGen: {{N}}K->{{N}}K({{N}}K)] {{N}}K->{{N}}K({{N}}K), 0.0{{ms}} secs]
[{{frac}}s][info][gc] GC({{n}}) Pause Young (Normal) (G1 Evacuation Pause) {{n}}M->{{n}}M({{n}}M) {{d}}.{{ms}}ms
{{date}} {{clock}} INFO  com.example.{{name}}.{{Thing}}Service:{{n}} - {{verb}} of {{thing}} {{uuid}} took {{n}} ms
{"level":30,"time":17{{N}}{{N}},"pid":{{pid}},"hostname":"{{name}}","req":{"id":{{n}},"method":"{{method}}","url":"{{route}}"},"res":{"statusCode":{{status}}},"responseTime":{{n}},"msg":"request completed"}
{"timestamp":"{{iso}}","level":"INFO","target":"{{name}}::{{file}}","fields":{"message":"{{thing}} cache warmed","entries":{{n}}}}
{"severity":"DEBUG","message":"{{verb}} {{thing}}","trace":"{{uuid}}","labels":{"app":"{{name}}","zone":"eu-{{d}}"}}
{"@timestamp":"{{iso}}","log.level":"info","message":"{{Thing}} {{n}} moved to archive","service.name":"{{name}}","event.duration":{{N}}}
{{iso}}	info	{{name}}/{{file}}.go:{{n}}	{{thing}} reconciled	{"namespace": "default", "generation": {{d}}}
level=info ts={{iso}} caller={{file}}.go:{{n}} component={{name}} msg="compaction done" blocks={{d}} duration={{frac}}s
level=debug ts={{iso}} caller={{file}}.go:{{n}} msg="{{verb}} loop idle" next={{n}}s
ts={{iso}} caller={{file}}.go:{{n}} level=info msg="Completed loading of configuration file" filename=/etc/{{name}}/{{file}}.yml totalDuration={{n}}ms
time={{iso}} level=INFO source={{file}}.go:{{n}} msg="{{thing}} accepted" remote={{ip}}:{{port}} bytes={{N}}
{{date}} {{clock}} {{level}} {{name}}: {{verb}} finished, {{n}} {{thing}}s written to {{path}}
{{iso}} {{level}} [{{name}}] heartbeat {{N}}
{{iso}} {{level}} {{name}} pool at {{n}} of {{N}} connections
{{iso}} DEBUG {{name}}.{{file}} lookup {{thing}} -> {{N}} (cache)
{{clock}} {{level}} {{name}}/{{file}} retrying {{verb}} in {{n}}ms (attempt {{d}} of 5)
I, [{{date}}T{{clock}}.{{N}} #{{pid}}]  INFO -- : [{{uuid}}] Completed {{status}} OK in {{n}}ms (Views: {{d}}.{{d}}ms | ActiveRecord: {{d}}.{{d}}ms)
Started {{method}} "{{route}}" for {{ip}} at {{date}} {{clock}} +0000
  Rendered {{thing}}s/_{{file}}.html.erb (Duration: {{d}}.{{d}}ms | Allocations: {{n}})
  {{Thing}} Load ({{d}}.{{d}}ms)  SELECT "{{thing}}s".* FROM "{{thing}}s" WHERE "{{thing}}s"."id" = $1 LIMIT $2
{{iso}} pid={{pid}} tid={{hex}} class={{Thing}}Worker jid={{hex}} elapsed={{d}}.{{ms}} INFO: done
[{{date}} {{clock}}] local.INFO: {{thing}} {{n}} queued {"user":{{n}}}
[{{apache}}] PHP {{ver}} Development Server (http://localhost:{{port}}) started
info: Microsoft.Hosting.Lifetime[14] Now listening on: http://localhost:{{port}}
info: Microsoft.EntityFrameworkCore.Database.Command[20101] Executed DbCommand ({{n}}ms) [Parameters=[], CommandType='Text', CommandTimeout='30']
  {{name}} -> C:\build\{{name}}\bin\Debug\net8.0\{{name}}.dll
{{date}} {{clock}}, Info                  CBS    Session: {{N}}_{{N}} initialized by client WindowsUpdateAgent.
Information	{{date}} {{clock}}	Service Control Manager	7036	None	The {{name}} service entered the running state.
05-06 {{clock}}.{{ms}}  {{pid}}  {{pid}} I ActivityManager: Start proc {{pid}}:com.example.{{name}}/u0a{{n}} for service
05-06 {{clock}}.{{ms}}  {{pid}}  {{pid}} D {{Thing}}View: onMeasure w={{n}} h={{n}}
default	{{clock}}.{{N}} +0200	{{name}}	[0x{{hex}}] activating connection: mach=true listener=false peer=false name={{name}}
Enumerating objects: {{n}}, done.
Counting objects: 100% ({{n}}/{{n}}), done.
remote: Compressing objects: 100% ({{n}}/{{n}}), done.
Receiving objects:  {{n}}% ({{n}}/{{N}}), {{frac}} MiB | {{frac}} MiB/s
   {{hex}}..{{hex}}  main -> main
 create mode 100644 src/{{file}}.{{ext}}
[main {{hex}}] {{verb}} {{thing}} twice
 {{d}} files changed, {{n}} insertions(+), {{n}} deletions(-)
Plan: {{d}} to add, {{d}} to change, 0 to destroy.
aws_instance.{{name}}: Refreshing state... [id=i-{{hex}}]
aws_s3_bucket.{{thing}}: Creation complete after {{d}}s [id={{name}}-{{thing}}]
Apply complete! Resources: {{d}} added, {{d}} changed, 0 destroyed.
No changes. Your infrastructure matches the configuration.
ok: [{{name}}-{{d}}]
changed: [{{name}}-{{d}}] => (item={{thing}})
{{name}}-{{d}} : ok={{n}}  changed={{d}}  unreachable=0  failed=0  skipped={{d}}
TASK [{{name}} : {{verb}} the {{thing}}] *********************
{{name}}.{{thing}} {{n}} {{N}} {{frac}} up
node_cpu_seconds_total{cpu="{{d}}",mode="idle"} {{N}}.{{d}}
PING {{name}}.example.org ({{ip}}) 56(84) bytes of data.
64 bytes from {{ip}}: icmp_seq={{d}} ttl=57 time={{frac}} ms
drwxr-xr-x {{d}} {{person}} staff  {{N}} May  6 10:{{d}}{{d}} {{name}}
/dev/sda{{d}}        {{N}}G   {{n}}G  {{n}}G  {{n}}% /{{dir}}
  {{pid}} {{person}}      20   0  {{N}}m  {{n}}m  {{n}}m S   {{d}}.{{d}}  {{d}}.{{d}}   0:{{d}}{{d}}.{{d}}{{d}} {{name}}
HTTP/1.1 200 OK
< content-type: application/json; charset=utf-8
> user-agent: curl/{{ver}}
* Connected to {{name}}.example.org ({{ip}}) port {{port}}
  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
{{sha}}  {{name}}-{{ver}}.tar.gz
export {{Thing}}_HOME=/{{dir}}/{{name}}
const {{thing}} = await {{verb}}{{Thing}}({ id: {{n}} });
if err := {{verb}}(ctx, {{thing}}); err != nil {
    return self.{{verb}}({{thing}}, limit={{n}})
SELECT id, {{thing}} FROM {{name}} WHERE created_at > now() - interval '{{d}} days';
- fix: {{verb}} no longer fails when the {{thing}} is empty (#{{n}})
- **{{name}}**: {{verb}} the {{thing}} only once ([{{hex}}](https://example.org/{{sha}}))
We could not find a way to {{verb}} {{thing}}s faster, so the limit stays at {{n}} for now.
Thanks for the report! Could you add the version of {{name}} and a {{thing}} that shows it?
Please note that every {{thing}} must be given back to {{name}} before the end of the month.
If the {{thing}} is missing, open the settings of {{name}} and choose another one from the list.
The {{name}} team moved the weekly {{thing}} meeting to {{date}}; nobody objected.
It is not possible to use both editions at the same time, see chapter {{d}} of the handbook.
After the restart everything was fine again and the {{thing}} page answered within {{n}} ms.
User {{person}} has been added to the group of people who may {{verb}} a {{thing}}.
This value is optional. When it is left out, {{name}} takes {{n}}.
Does anybody know whether version {{ver}} still supports the old {{thing}} format?
{{Thing}} created · {{Thing}} updated · {{n}} open, {{n}} closed
Session for {{person}} started, device is new, location unknown
All {{n}} checks have passed; this branch has no conflicts with the base branch
Backup of {{thing}} finished: {{n}} files, {{frac}} GB, no file skipped
{{name}}: reading {{path}} ({{N}} bytes)
{{name}} is listening on {{ip}}:{{port}}
{{name}}[{{pid}}]: reloading configuration from {{path}}
Loaded {{n}} rules from {{path}}
Connected to {{name}} as {{person}}; protocol {{d}}, server {{ver}}
Disconnected after {{n}} s idle, will reconnect when needed
Worker {{d}} exited with status 0 after {{n}} jobs
Leader election: {{name}}-{{d}} is the new leader (term {{n}})
Certificate for {{name}}.example.org renewed, valid until {{date}}
Rate of {{thing}} events back to normal ({{n}}/s)
Feature flag "{{thing}}-{{verb}}" is now on for {{n}} % of users
Migrated {{n}} rows in {{frac}} s, {{d}} left
GET {{route}} -> {{status}} in {{n}} ms ({{N}} bytes)
WARNING: {{name}} runs with development settings
WARN  {{name}}: clock differs from {{ip}} by {{n}} ms
Note: {{Thing}}.java uses or overrides a deprecated API.
`), "\n")
