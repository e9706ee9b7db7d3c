#!/usr/bin/env bash
# Nodes without a kubelet, for a cluster of cluster.sh: they are Ready, and they stay as they are
# told. See README.md.
set -euo pipefail

usage() {
  cat >&2 <<'EOF'
usage: node.sh DIR VERB NAME [ARGUMENT]...
  add NAME [RESOURCE=QUANTITY | label:KEY=VALUE | taint:KEY=VALUE:EFFECT]...
                              a Ready node (32 CPUs, 128Gi, 110 pods unless told otherwise)
  set NAME RESOURCE=QUANTITY...           change capacity and allocatable; an empty QUANTITY
                                          takes the resource away
  allocatable NAME RESOURCE=QUANTITY...   change allocatable alone, as when a device fails
  ready NAME True|False|Unknown           change the Ready condition
EOF
  exit 2
}

die() { printf 'kube/node.sh: %s\n' "$*" >&2; exit 1; }

# api METHOD PATH CONTENT-TYPE BODY: one request as the admin; prints the server's message and
# fails when it refuses.
api() {
  local answer
  answer=$(curl -sS --cacert "$dir/pki/ca.crt" --cert "$dir/pki/admin.crt" \
    --key "$dir/pki/admin.key" -X "$1" \
    -H "Content-Type: $3" -d "$4" -w '\n%{http_code}' \
    "https://127.0.0.1:$(<"$dir/run/kube-apiserver-0.port")/api/v1/nodes$2")
  [[ ${answer##*$'\n'} == 2* ]] ||
    die "$1 nodes$2: $(sed -n 's/^  "message": "\(.*\)",$/\1/p' <<<"$answer")"
}

# Turns KEY=VALUE... into the JSON object {"KEY":"VALUE",...}; an empty VALUE becomes null, which
# removes the key.
object() {
  local pair value out=""
  for pair in "$@"; do
    [[ $pair == *=* ]] || die "not KEY=VALUE: '$pair'"
    value=null
    [[ -z ${pair#*=} ]] || value="\"${pair#*=}\""
    out+=",\"${pair%%=*}\":$value"
  done
  printf '{%s}' "${out#,}"
}

# Prints the Ready condition with status $1, as from now.
condition() {
  local now
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  printf '[{"type":"Ready","status":"%s","reason":"SetByNodeSh",' "$1"
  printf '"lastHeartbeatTime":"%s","lastTransitionTime":"%s"}]' "$now" "$now"
}

add() {
  local name=$1 word taints="" key value effect resources
  local -a labels=("kubernetes.io/hostname=$1" kubernetes.io/os=linux kubernetes.io/arch=amd64)
  local -a pairs=()
  local -A amount=([cpu]=32 [memory]=128Gi [pods]=110 [ephemeral-storage]=200Gi)
  shift
  for word in "$@"; do
    case $word in
      label:*) labels+=("${word#label:}") ;;
      taint:*=*:*)
        word=${word#taint:} key=${word%%=*} effect=${word##*:} value=${word#*=} value=${value%:*}
        taints+=",{\"key\":\"$key\",\"value\":\"$value\",\"effect\":\"$effect\"}" ;;
      *=?*) amount[${word%%=*}]=${word#*=} ;;
      *) die "add: not RESOURCE=QUANTITY, label:KEY=VALUE or taint:KEY=VALUE:EFFECT: '$word'" ;;
    esac
  done
  for key in "${!amount[@]}"; do pairs+=("$key=${amount[$key]}"); done
  resources=$(object "${pairs[@]}")
  api POST "" application/json "{\"apiVersion\":\"v1\",\"kind\":\"Node\",
    \"metadata\":{\"name\":\"$name\",\"labels\":$(object "${labels[@]}")},
    \"spec\":{\"taints\":[${taints#,}]},
    \"status\":{\"capacity\":$resources,\"allocatable\":$resources,
      \"conditions\":$(condition True)}}"
  # Every new node gets the taint not-ready; do not wait until the controller manager takes it away.
  api PATCH "/$name" application/merge-patch+json "{\"spec\":{\"taints\":[${taints#,}]}}"
}

(($# >= 3)) || usage
dir=$1 verb=$2 name=$3
shift 3
case $verb in
  add) add "$name" "$@" ;;
  set) api PATCH "/$name/status" application/strategic-merge-patch+json \
    "{\"status\":{\"capacity\":$(object "$@"),\"allocatable\":$(object "$@")}}" ;;
  allocatable) api PATCH "/$name/status" application/strategic-merge-patch+json \
    "{\"status\":{\"allocatable\":$(object "$@")}}" ;;
  ready) [[ $* =~ ^(True|False|Unknown)$ ]] || usage
    api PATCH "/$name/status" application/strategic-merge-patch+json \
      "{\"status\":{\"conditions\":$(condition "$1")}}" ;;
  *) usage ;;
esac
