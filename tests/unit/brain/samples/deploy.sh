#!/bin/bash
# Deploys the site.

set -euo pipefail

source ./lib/common.sh
. "$HOME/.env"

readonly TARGET_HOST="web1"
export RETRIES=3
name=site

# Prints a message.
log() {
  local message="$1"
  echo "[$(date +%T)] ${message}" >&2
}

function build {
  npm run build
  log "built $name"
  case "$1" in
    fast) skip_tests ;;
    *) run_tests "$@" || return 1 ;;
  esac
}

deploy() (
  build fast
  if ! rsync -a dist/ "$TARGET_HOST:/srv/$name"; then
    log "failed" | tee -a log.txt
  fi
)

cat <<EOF
usage: $(basename "$0")
EOF

deploy "$@"
