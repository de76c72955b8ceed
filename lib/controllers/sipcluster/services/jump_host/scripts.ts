/**
 * The scripts of a jump host.
 * @module
 */

/**
 * `host list` and `host reboot NAME`. A reboot is a request in a ConfigMap, the only object that the jump host may
 * change; Landfall answers it there. Needs curl and jq.
 */
export const HOST: string = String.raw`#!/bin/sh
# Lists the hosts of this cluster, and asks Landfall to reboot one.
set -eu

config=/etc/opt/sip/config
account=/var/run/secrets/kubernetes.io/serviceaccount
answer_s=60

usage() {
  echo 'usage: host list' >&2
  echo '       host reboot NAME' >&2
  exit 64
}

# Asks the API server for the requests, with more arguments of curl. The token is no argument of a program.
ask() {
  case $KUBERNETES_SERVICE_HOST in
    *:*) server="[$KUBERNETES_SERVICE_HOST]" ;;
    *) server=$KUBERNETES_SERVICE_HOST ;;
  esac
  printf 'header = "Authorization: Bearer %s"\n' "$(cat "$account/token")" |
    curl --config - --silent --show-error --fail --max-time 10 --noproxy '*' --cacert "$account/ca.crt" "$@" \
      "https://$server:$KUBERNETES_SERVICE_PORT$(cat "$config/requests")"
}

change() {
  ask --request PATCH --header 'Content-Type: application/merge-patch+json' --data-binary "$1" > /dev/null
}

# Ends with the answer, if there is one.
finish() {
  answer=$(ask 2> /dev/null | jq --raw-output --arg key "answer.$id" '.data[$key] // empty')
  [ -n "$answer" ] || return 0
  printf '%s\n' "$answer" | jq --raw-output '.message'
  [ "$(printf '%s\n' "$answer" | jq --raw-output '.state')" = done ] && exit 0
  exit 1
}

withdraw() {
  change "$(jq --null-input --compact-output --arg key "request.$id" '{data: {($key): null}}')"
}

reboot() {
  host=$(jq --raw-output --arg name "$1" \
    '.[] | select(.name == $name) | .namespace + "/" + .bareMetalHost' "$config/hosts")
  if [ -z "$host" ]; then
    printf 'host: no host of this cluster has the name %s. See: host list\n' "$1" >&2
    exit 1
  fi
  id=$(cat /proc/sys/kernel/random/uuid)
  change "$(jq --null-input --compact-output --arg key "request.$id" --arg host "$host" \
    '{data: {($key): ({host: $host, time: (now | floor)} | tojson)}}')"
  trap 'withdraw; exit 130' HUP INT TERM
  waited_s=0
  while [ $waited_s -lt $answer_s ]; do
    finish
    sleep 1
    waited_s=$((waited_s + 1))
  done
  withdraw
  finish
  echo "host: no answer within $answer_s s. The request is withdrawn" >&2
  exit 1
}

[ $# -gt 0 ] || usage
case $1 in
  list)
    [ $# -eq 1 ] || usage
    jq --raw-output \
      '.[] | [.name, .role, (if .standby then "standby" else "active" end), .address // "-"] | @tsv' \
      "$config/hosts"
    ;;
  reboot)
    [ $# -eq 2 ] || usage
    reboot "$2"
    ;;
  *) usage ;;
esac
`;

/**
 * Starts sshd. Sessions begin with an empty environment and what one SetEnv says, so this passes on where the API
 * server is, for `host`, and the proxy of the container. Needs printenv.
 */
export const START: string = String.raw`#!/bin/sh
set -eu
pass=SetEnv
for name in KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT \
  HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy; do
  value=$(printenv "$name") || continue
  pass="$pass \"$name=$value\""
done
exec /usr/sbin/sshd -D -e -f /etc/opt/sip/config/sshd_config -o "$pass"
`;

/** Waits before a Pod ends until its sessions have ended. Kubernetes limits the time. */
export const DRAIN: string = String.raw`#!/bin/sh
# New connections go to another Pod by now.
sleep 5
while grep -qs '^sshd[^:]*: ubuntu' /proc/[0-9]*/cmdline; do
  sleep 2
done
`;
