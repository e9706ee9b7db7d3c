#!/usr/bin/env bash
# A real Kubernetes control plane per folder, all of it on 127.0.0.1, for tests. See README.md.
set -euo pipefail

usage() {
  cat >&2 <<'EOF'
usage: cluster.sh VERB DIR [ARGUMENT]...
  start DIR [--bin BIN] [--replicas-of-apiserver N] [--no-kcm] [--no-scheduler] [--audit]
            [--apiserver-arg ARG]... [--kcm-arg ARG]... [--scheduler-arg ARG]...
                                   start a cluster in DIR, or resume the stopped one that DIR holds
  stop DIR                         end its processes; its data stay, so `start DIR` resumes it
  wait DIR [SECONDS]               wait until every running component is ready
  status DIR                       one line for each component
  env DIR                          print shell exports: KUBECONFIG, KUBE_SERVER, KUBE_SERVERS, ...
  restart-apiserver DIR [I]        end API server I (default 0) in good order, if it runs; start it
  kill9-apiserver DIR [I]          kill -9 API server I and leave it dead
  restart DIR COMPONENT            the same two for any component
  kill9 DIR COMPONENT
  signal DIR COMPONENT SIGNAL      e.g. `signal DIR etcd STOP`
  token DIR NAMESPACE NAME [SECS]  print a token of that ServiceAccount
  sa-kubeconfig DIR NAMESPACE NAME [SECS]   print a kubeconfig that carries such a token
  user DIR NAME [GROUP]...         make DIR/NAME.kubeconfig and its client certificate
  serving-cert DIR NAME            make DIR/pki/NAME.{crt,key} for a webhook or server on 127.0.0.1
  compact DIR                      compact etcd at its newest revision and print that
COMPONENT is etcd, kube-apiserver-I, kube-controller-manager or kube-scheduler.
EOF
  exit 2
}

say() { printf 'kube/cluster.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# ---- components: each has run/NAME.args (one a line), run/NAME.port, run/NAME.pid and log/NAME.log

components() {
  local file
  for file in "$dir"/run/*.args; do
    file=${file##*/}
    printf '%s\n' "${file%.args}"
  done
}
apiservers() { components | grep '^kube-apiserver-'; }
port_of() { printf '%s' "$(<"$dir/run/$1.port")"; }
url_of() { printf 'https://127.0.0.1:%s' "$(port_of "$1")"; }
binary_of() { printf '%s/%s' "$(<"$dir/run/bin")" "${1%-[0-9]*}"; }

# Prints the process of component $1; fails if it does not run. Binary and working folder tell a
# reused pid.
pid_of() {
  local pid exe
  pid=$(cat "$dir/run/$1.pid" 2>/dev/null) || return 1
  exe=$(readlink "/proc/$pid/exe" 2>/dev/null) || return 1
  [[ ${exe% (deleted)} == "$(binary_of "$1")" ]] || return 1
  [[ $(readlink "/proc/$pid/cwd") == "$dir" ]] && printf '%s\n' "$pid"
}

spawn() {
  local pid
  local -a args
  pid_of "$1" >/dev/null && return
  mapfile -t args <"$dir/run/$1.args"
  (cd "$dir" && exec setsid "$(binary_of "$1")" "${args[@]}") \
    </dev/null >>"$dir/log/$1.log" 2>&1 9>&- &
  pid=$!
  disown
  printf '%s\n' "$pid" >"$dir/run/$1.pid"
  # Until it has exec'ed, the process is still this script and pid_of does not know it.
  while kill -0 "$pid" 2>/dev/null && ! pid_of "$1" >/dev/null; do sleep 0.01; done
}

# Sends signal $1 to the components after it, waits until they are gone, and kills what is left
# after 15 s.
end() {
  local signal=$1 name pid tick
  shift
  for name in "$@"; do
    # One that is gone already is fine.
    if pid=$(pid_of "$name"); then
      kill "-$signal" "$pid" && kill -CONT "$pid" 2>/dev/null
    fi || true
  done
  for name in "$@"; do
    for ((tick = 0; tick < 300; tick++)); do
      pid_of "$name" >/dev/null || break
      sleep 0.05
    done
    if pid=$(pid_of "$name"); then
      say "$name did not end on $signal: killed"
      kill -KILL "$pid" || true
    fi
    rm -f "$dir/run/$name.pid"
  done
}

get() { # get NAME PATH: GET from component NAME as the admin
  curl -fsS --max-time 5 --cacert "$dir/pki/ca.crt" \
    --cert "$dir/pki/admin.crt" --key "$dir/pki/admin.key" \
    "$(url_of "$1")$2"
}

probe() {
  case $1 in
    etcd) curl -fsS --max-time 5 "http://127.0.0.1:$(port_of etcd)/health" ;;
    kube-apiserver-*) get "$1" /readyz ;;
    kube-controller-manager) # and its first work: pods are refused until this account is there
      get "$1" /healthz &&
        get kube-apiserver-0 /api/v1/namespaces/default/serviceaccounts/default ;;
    kube-scheduler) get "$1" /readyz ;;
  esac >/dev/null 2>&1
}

# await DEADLINE NAME...: waits until these are ready; fails at once when one has died, and when
# SECONDS is DEADLINE.
await() {
  local deadline=$1 name
  shift
  for name in "$@"; do
    until probe "$name"; do
      pid_of "$name" >/dev/null || {
        tail -n 15 "$dir/log/$name.log" >&2
        die "$name died: see $dir/log/$name.log"
      }
      ((SECONDS < deadline)) || die "$name is not ready in time: see $dir/log/$name.log"
      sleep 0.1
    done
  done
}

# ---- certificates and kubeconfigs

# sign NAME SUBJECT EXTENSIONS: makes pki/NAME.key and pki/NAME.crt, signed by the cluster's CA.
sign() {
  local pki=$dir/pki
  openssl ecparam -name prime256v1 -genkey -noout -out "$pki/$1.key"
  openssl req -new -key "$pki/$1.key" -subj "$2" |
    openssl x509 -req -days 3650 -CA "$pki/ca.crt" -CAkey "$pki/ca.key" \
      -set_serial "0x$(openssl rand -hex 8)" \
      -extfile <(printf 'keyUsage=digitalSignature\nbasicConstraints=CA:FALSE\n%s\n' "$3") \
      -out "$pki/$1.crt" 2>/dev/null
}

serving_cert() {
  sign "$1" "/CN=$1" "extendedKeyUsage=serverAuth
subjectAltName=IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,\
DNS:kubernetes.default,DNS:kubernetes.default.svc"
}

# kubeconfig USER CREDENTIALS: prints a kubeconfig for API server 0.
kubeconfig() {
  cat <<EOF
apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: "$(url_of kube-apiserver-0)"
    certificate-authority-data: $(base64 -w0 "$dir/pki/ca.crt")
users:
- name: "$1"
  user: {$2}
contexts:
- name: local
  context: {cluster: local, user: "$1"}
current-context: local
EOF
}

# user FILE CN GROUP...: a client certificate, and DIR/FILE.kubeconfig that carries it.
user() {
  local file=$1 subject="" group
  shift
  for group in "${@:2}"; do subject+="/O=$group"; done
  sign "$file" "$subject/CN=$1" extendedKeyUsage=clientAuth
  (umask 077; kubeconfig "$1" "client-certificate-data: $(base64 -w0 "$dir/pki/$file.crt"), \
client-key-data: $(base64 -w0 "$dir/pki/$file.key")" >"$dir/$file.kubeconfig")
}

# Prints a token of ServiceAccount $2 in namespace $1, good for $3 seconds (an hour if not given).
token() {
  "$(binary_of kubectl)" --kubeconfig "$dir/admin.kubeconfig" create token -n "$1" "$2" \
    --duration "${3:-3600}s"
}

# ---- a new cluster's folder

# Sets `base` to the first of $1 free ports in a row, below those that the kernel gives to clients.
pick_ports() {
  local tries port
  for ((tries = 0; tries < 200; tries++)); do
    base=$((10000 + RANDOM % 1400 * 16))
    for ((port = base; port < base + $1; port++)); do
      if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue 2; fi
    done
    return
  done
  die "found no $1 free ports in a row"
}

# component NAME PORT ARG...
component() {
  printf '%s\n' "$2" >"$dir/run/$1.port"
  printf '%s\n' "${@:3}" >"$dir/run/$1.args"
}

lay_out() {
  local i base pki=$dir/pki
  local -a api=() audit=()
  pick_ports $((replicas + 4))
  openssl ecparam -name prime256v1 -genkey -noout -out "$pki/ca.key"
  openssl req -x509 -new -key "$pki/ca.key" -days 3650 -subj /CN=kube-test-ca -out "$pki/ca.crt"
  openssl ecparam -name prime256v1 -genkey -noout -out "$pki/sa.key"
  openssl ec -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null
  serving_cert serving

  component etcd "$base" --name=etcd "--data-dir=$dir/etcd" --unsafe-no-fsync --log-level=warn \
    --watch-progress-notify-interval=5s \
    "--listen-client-urls=http://127.0.0.1:$base" "--advertise-client-urls=http://127.0.0.1:$base" \
    "--listen-peer-urls=http://127.0.0.1:$((base + 1))" \
    "--initial-advertise-peer-urls=http://127.0.0.1:$((base + 1))" \
    "--initial-cluster=etcd=http://127.0.0.1:$((base + 1))"

  # Without the controller manager no namespace has the account that this plugin asks for.
  [[ $kcm == yes ]] || api+=(--disable-admission-plugins=ServiceAccount)
  [[ $with_audit == no ]] || audit_policy >"$dir/audit-policy.yaml"
  for ((i = 0; i < replicas; i++)); do
    [[ $with_audit == no ]] ||
      audit=("--audit-policy-file=$dir/audit-policy.yaml"
        "--audit-log-path=$dir/log/audit-$i.log" --audit-log-maxsize=1000)
    component "kube-apiserver-$i" $((base + 4 + i)) "--etcd-servers=http://127.0.0.1:$base" \
      --bind-address=127.0.0.1 --advertise-address=127.0.0.1 "--secure-port=$((base + 4 + i))" \
      --endpoint-reconciler-type=none --service-cluster-ip-range=10.96.0.0/16 \
      "--client-ca-file=$pki/ca.crt" \
      "--tls-cert-file=$pki/serving.crt" "--tls-private-key-file=$pki/serving.key" \
      --service-account-issuer=https://kubernetes.default.svc \
      "--service-account-key-file=$pki/sa.pub" \
      "--service-account-signing-key-file=$pki/sa.key" --authorization-mode=Node,RBAC \
      --enable-admission-plugins=NodeRestriction --allow-privileged=true --profiling=false \
      --shutdown-watch-termination-grace-period=1s \
      "${api[@]}" "${audit[@]}" "${apiserver_args[@]}"
  done

  user admin admin system:masters
  user limited limited
  if [[ $kcm == yes ]]; then
    user kube-controller-manager system:kube-controller-manager
    # A node stays as its status says: nobody renews its heartbeat, so the grace is a century.
    component kube-controller-manager $((base + 2)) \
      "--kubeconfig=$dir/kube-controller-manager.kubeconfig" \
      --bind-address=127.0.0.1 "--secure-port=$((base + 2))" \
      "--tls-cert-file=$pki/serving.crt" "--tls-private-key-file=$pki/serving.key" \
      --leader-elect=false --use-service-account-credentials=true \
      "--service-account-private-key-file=$pki/sa.key" "--root-ca-file=$pki/ca.crt" \
      --node-monitor-grace-period=876000h --node-startup-grace-period=876000h \
      --node-monitor-period=1s --kube-api-qps=500 --kube-api-burst=1000 \
      --profiling=false "${kcm_args[@]}"
  fi
  if [[ $scheduler == yes ]]; then
    user kube-scheduler system:kube-scheduler
    component kube-scheduler $((base + 3)) "--kubeconfig=$dir/kube-scheduler.kubeconfig" \
      --bind-address=127.0.0.1 "--secure-port=$((base + 3))" \
      "--tls-cert-file=$pki/serving.crt" "--tls-private-key-file=$pki/serving.key" \
      --leader-elect=false --kube-api-qps=500 --kube-api-burst=1000 --profiling=false \
      "${scheduler_args[@]}"
  fi
}

# Every write with its body, none of the control plane's own heartbeats and events.
audit_policy() {
  cat <<'EOF'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  resources: [{group: "", resources: [events]}, {group: events.k8s.io, resources: [events]}]
- level: None
  users: ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"]
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Request
EOF
}

# ---- verbs

start() {
  local bin replicas=1 kcm=yes scheduler=yes with_audit=no given=0 began=$SECONDS name fresh=no
  local -a apiserver_args=() kcm_args=() scheduler_args=() mine
  bin=$(cat "$dir/run/bin" 2>/dev/null) ||
    bin=${KUBE_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/gpubinder/kube}
  while (($#)); do
    [[ $1 == --bin ]] || given=1
    case $1 in
      --no-kcm) kcm=no ;;
      --no-scheduler) scheduler=no ;;
      --audit) with_audit=yes ;;
      --bin | --replicas-of-apiserver | --apiserver-arg | --kcm-arg | --scheduler-arg)
        (($# > 1)) || die "$1 needs a value"
        case $1 in
          --bin) bin=$2 ;;
          --replicas-of-apiserver) replicas=$2 ;;
          --apiserver-arg) apiserver_args+=("$2") ;;
          --kcm-arg) kcm_args+=("$2") ;;
          --scheduler-arg) scheduler_args+=("$2") ;;
        esac
        shift ;;
      *) die "start: unknown argument '$1'" ;;
    esac
    shift
  done
  [[ $replicas =~ ^[1-8]$ ]] || die "--replicas-of-apiserver takes 1 to 8, not '$replicas'"
  if [[ -f $dir/run/laid-out ]]; then
    ((given == 0)) ||
      die "$dir holds a cluster, with its own options: start it without any, or take a new folder"
    for name in $(components); do
      pid_of "$name" >/dev/null && die "already running: $name"
    done
  fi
  bin=$(realpath -m -- "$bin")
  [[ -x $bin/etcd ]] || die "no etcd in $bin: run build.sh $bin"
  (umask 077; mkdir -p "$dir/run" "$dir/pki" "$dir/log")
  printf '%s\n' "$bin" >"$dir/run/bin"

  # Starts on this machine take turns, so that no two pick the same ports.
  exec 9>"${TMPDIR:-/tmp}/kube-cluster-start.$(id -u).lock"
  flock 9
  if [[ ! -f $dir/run/laid-out ]]; then lay_out; touch "$dir/run/laid-out"; fi
  mapfile -t mine < <(components)
  [[ -d $dir/etcd ]] || fresh=yes
  trap 'end KILL "${mine[@]}"' EXIT  # a start that fails leaves nothing running
  spawn etcd
  spawn kube-apiserver-0
  await $((began + 120)) etcd kube-apiserver-0
  for name in "${mine[@]}"; do spawn "$name"; done
  await $((began + 180)) "${mine[@]}"
  trap - EXIT
  say "$([[ $fresh == yes ]] && echo started || echo resumed) in $((SECONDS - began)) s:" \
    "$(url_of kube-apiserver-0), $dir/admin.kubeconfig"
}

print_env() {
  local name servers=""
  for name in $(apiservers); do servers+="$(url_of "$name") "; done
  cat <<EOF
export KUBECONFIG='$dir/admin.kubeconfig'
export KUBE_SERVER='$(url_of kube-apiserver-0)'
export KUBE_SERVERS='${servers% }'
export KUBE_CA='$dir/pki/ca.crt'
export KUBE_CERT='$dir/pki/admin.crt'
export KUBE_KEY='$dir/pki/admin.key'
export KUBE_ETCD='http://127.0.0.1:$(port_of etcd)'
export KUBE_BIN='$(<"$dir/run/bin")'
export PATH='$(<"$dir/run/bin")':"\$PATH"
EOF
}

status() {
  local name pid
  for name in $(components); do
    if ! pid=$(pid_of "$name"); then
      printf '%-26s stopped\n' "$name"
    else
      printf '%-26s %-9s pid %-8s port %-6s %5d MiB\n' "$name" \
        "$(probe "$name" && echo ready || echo 'not ready')" "$pid" \
        "$(port_of "$name")" "$(($(awk '/^VmRSS/ {print $2}' "/proc/$pid/status") / 1024))"
    fi
  done
}

known() { [[ -f $dir/run/$1.args ]] || die "no component $1 in $dir"; }

kill9() { known "$1"; end KILL "$1"; }

restart() {
  known "$1"
  end TERM "$1"
  spawn "$1"
  await $((SECONDS + 60)) "$1"
}

compact() {
  local etcd revision
  etcd=http://127.0.0.1:$(port_of etcd)
  revision=$(curl -fsS "$etcd/v3/kv/range" -d '{"key":"AA==","limit":"1"}' |
    sed 's/.*"revision":"\([0-9]*\)".*/\1/')
  curl -fsS "$etcd/v3/kv/compaction" -d "{\"revision\":\"$revision\",\"physical\":true}" >/dev/null
  printf '%s\n' "$revision"
}

main() {
  (($# >= 2)) || usage
  local verb=$1 name bearer
  local -a all
  dir=$(realpath -m -- "$2")
  shift 2
  [[ $verb == start || -f $dir/run/laid-out ]] || die "no cluster in $dir"
  case $verb in
    start) start "$@" ;;
    stop) mapfile -t all < <(components | grep -vx etcd)
      end TERM "${all[@]}"
      end TERM etcd ;;  # last: an API server without etcd takes long to end
    wait) mapfile -t all < <(for name in $(components); do
        pid_of "$name" >/dev/null && echo "$name"
      done)
      await $((SECONDS + ${1:-60})) "${all[@]}" ;;
    status) status ;;
    env) print_env ;;
    restart-apiserver) restart "kube-apiserver-${1:-0}" ;;
    kill9-apiserver) kill9 "kube-apiserver-${1:-0}" ;;
    restart | kill9) (($# == 1)) || usage
      "$verb" "$1" ;;
    signal) (($# == 2)) || usage
      known "$1"
      kill "-$2" "$(pid_of "$1" || die "$1 does not run")" ;;
    token) (($# == 2 || $# == 3)) || usage
      token "$@" ;;
    sa-kubeconfig) (($# == 2 || $# == 3)) || usage
      bearer=$(token "$@")
      kubeconfig "$1/$2" "token: $bearer" ;;
    user) [[ $# -ge 1 && $1 != */* ]] || usage
      user "$1" "$@" ;;
    serving-cert) (($# == 1)) || usage
      serving_cert "$1" ;;
    compact) compact ;;
    *) usage ;;
  esac
}

main "$@"
