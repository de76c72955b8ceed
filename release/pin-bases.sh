#!/usr/bin/env bash
# Pins base images by digest: writes behind each tag in a Containerfile the digest that the registry has for it now.
# A file stays as it is if a registry does not answer. Needs skopeo.
#
#   release/pin-bases.sh                 the Containerfiles of this project
#   release/pin-bases.sh FILE...         others
set -euo pipefail
[ $# -gt 0 ] || set -- "$(dirname "$0")/../Containerfile" "$(dirname "$0")/../deploy/jump-host/Containerfile"
for file; do
  pinned=$(<"$file")
  for image in $(sed -nE 's/^ARG (BUILD_)?BASE=([^@]+)(@.*)?$/\2/p' "$file"); do
    digest=sha256:$(skopeo inspect --raw "docker://$image" | sha256sum | cut -d' ' -f1)
    pinned=$(sed -E "s|^(ARG (BUILD_)?BASE=$image)(@.*)?\$|\1@$digest|" <<<"$pinned")
    echo "$image@$digest"
  done
  printf '%s\n' "$pinned" >"$file"
done
