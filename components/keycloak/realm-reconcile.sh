#!/bin/bash
# Holds a realm to the files in $REALM_FILES: creates what is missing, updates in place what is there, and removes
# only what it once created, which it knows by the attribute $MARK. Whatever people made by hand stays.
# Runs in Keycloak's own image, which has no curl, jq, grep or sed: only bash, a few core utilities and kcadm.sh.
#
# KEYCLOAK_HOME         where bin/kcadm.sh is
# KEYCLOAK_URL          the server, such as http://keycloak.keycloak.svc:8080
# ADMIN_CLIENT          a client of the realm master with the role admin; kcadm reads its secret from
#                       KC_CLI_CLIENT_SECRET, so that no secret is ever an argument of a process
# REALM                 the realm's name
# REALM_FILES           realm.json, scope.*.json, mapper.<scope>.*.json, group.*.json, client.*.json
# REALM_SECRETS         one file for each confidential client, named by its client id
set -euo pipefail
shopt -s nullglob
umask 077

readonly MARK='home.platform.managed'
: "${KEYCLOAK_HOME:?}" "${KEYCLOAK_URL:?}" "${ADMIN_CLIENT:?}" "${REALM:?}" "${REALM_FILES:?}" "${REALM_SECRETS:?}"
: "${KC_CLI_CLIENT_SECRET:?}"
# kcadm starts a JVM for each request: the quickest start counts, not the fastest code.
export KC_OPTS="${KC_OPTS:--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}"

session=$(mktemp -d)
trap 'rm -rf "$session"' EXIT

declare -A ids=() texts=() marked=()                # of the last listing, by name
declare -A count=([created]=0 [updated]=0 [unchanged]=0 [removed]=0)

fail() {
  printf 'realm %s: %s\n' "$REALM" "$*" >&2
  exit 1
}

say() { # OBJECT RESULT
  count[$2]=$((count[$2] + 1))
  printf '%s: %s\n' "$1" "$2"
}

kcadm() { # its own messages, which go to stderr even when all is well, are shown only when it fails
  "$KEYCLOAK_HOME/bin/kcadm.sh" "$@" --config "$session/kcadm.config" 2>"$session/log" ||
    fail "kcadm $1 $2: $(<"$session/log")"
}

in_realm() {
  kcadm "$@" -r "$REALM"
}

sign_in() {
  kcadm config credentials --server "$KEYCLOAK_URL" --realm master --client "$ADMIN_CLIENT"
}

# Fills ids, texts and marked from a list as kcadm prints it: one level of indentation is two spaces.
index() { # LISTING KEY
  local line id='' name='' mark='' text=''
  ids=() texts=() marked=()
  while IFS= read -r line; do
    case $line in
    '}, {' | '} ]')
      if [[ -n $name ]]; then
        ids[$name]=$id texts[$name]=$text marked[$name]=$mark
      fi
      id='' name='' mark='' text=''
      continue
      ;;
    '  "id" : "'*) id=${line#*' : "'} id=${id%%'"'*} ;;
    "  \"$2\" : \""*) name=${line#*' : "'} name=${name%'"'*} ;;
    *"\"$MARK\" : "*'"true"'*) mark=yes ;;
    esac
    text+=$line$'\n'
  done <<<"$1"
}

list() { # ENDPOINT KEY
  local listing
  listing=$(in_realm get "$1" -q briefRepresentation=false)
  index "$listing" "$2"
}

value() { # KEY BODY: the value of a top-level key of one of our own files
  [[ $2 =~ $'\n'"  \"$1\": \""([^\"]*)\" ]] || fail "no $1 in ${2:0:200}"
  printf '%s' "${BASH_REMATCH[1]}"
}

names() { # KEY TEXT: the list of names under a key, ours or kcadm's, separated by spaces
  [[ $2 =~ \"$1\"\ ?:\ \[([^]]*)\] ]] || return 0
  local words=${BASH_REMATCH[1]//[\",$'\n']/ }
  # shellcheck disable=SC2086 # words are split on purpose
  printf '%s ' $words
}

with_secret() { # CLIENT BODY: a confidential client gets its secret from its file
  if [[ $2 != *'"clientAuthenticatorType": "client-secret"'* ]]; then
    printf '%s' "$2"
    return
  fi
  [[ -r $REALM_SECRETS/$1 ]] || fail "client $1 has no secret: $REALM_SECRETS/$1 is missing"
  local secret
  secret=$(<"$REALM_SECRETS/$1")
  [[ $secret =~ ^[A-Za-z0-9_-]{16,}$ ]] || fail "the secret of client $1 must be 16 or more of A-Z, a-z, 0-9, _ and -"
  printf '%s' "${2/#\{/"{ \"secret\": \"$secret\","}"
}

# What was there before us is kept up to date too, but its mark says that it is not ours to remove.
adopted() { # BODY
  local body=${1/"\"$MARK\": \"true\""/"\"$MARK\": \"adopted\""}
  printf '%s' "${body/"\"$MARK\": ["$'\n      "true"'/"\"$MARK\": ["$'\n      "adopted"'}"
}

hold_realm() {
  local body listing before=''
  body=$(<"$REALM_FILES/realm.json")
  listing=$(kcadm get realms)
  index "$listing" realm
  if [[ -n ${ids[$REALM]:-} ]]; then
    before=${texts[$REALM]}
    [[ -n ${marked[$REALM]} ]] || body=$(adopted "$body")
  else
    kcadm create realms -f - <<<"$body"
    # The rights over the new realm are only in a new token.
    sign_in
  fi
  kcadm update "realms/$REALM" -f - <<<"$body"
  listing=$(kcadm get realms)
  index "$listing" realm
  say "realm $REALM" "$(result "$before" "${texts[$REALM]}")"
}

result() { # BEFORE AFTER
  case $1 in
  '') printf created ;;
  "$2") printf unchanged ;;
  *) printf updated ;;
  esac
}

hold() { # KIND ENDPOINT KEY LABEL OWNED: which of the endpoint's objects are ours, those that are `marked` or `all`
  local kind=$1 endpoint=$2 key=$3 label=$4 owned=$5 file body name
  local -A before=() wanted=()
  list "$endpoint" "$key"
  for file in "$REALM_FILES/$kind".*.json; do
    body=$(<"$file")
    name=$(value "$key" "$body")
    wanted[$name]=$body before[$name]=${texts[$name]:-}
    if [[ $kind == client ]]; then body=$(with_secret "$name" "$body"); fi
    if [[ -z ${ids[$name]:-} ]]; then
      in_realm create "$endpoint" -f - <<<"$body"
      continue
    fi
    if [[ $owned == marked && -z ${marked[$name]} ]]; then body=$(adopted "$body"); fi
    body=${body/#\{/"{ \"id\": \"${ids[$name]}\","}
    in_realm update "$endpoint/${ids[$name]}" -f - <<<"$body"
  done
  for name in "${!ids[@]}"; do
    if [[ -z ${wanted[$name]:-} && ($owned == all || -n ${marked[$name]}) ]]; then
      in_realm delete "$endpoint/${ids[$name]}"
      say "$label $name" removed
    fi
  done
  list "$endpoint" "$key"
  if [[ $kind == client ]]; then hold_scopes wanted; fi
  for name in "${!wanted[@]}"; do
    say "$label $name" "$(result "${before[$name]}" "${texts[$name]}")"
  done
}

# Keycloak takes the scopes of a client only when it creates it; afterwards each is an assignment of its own.
hold_scopes() { # the name of the array of wanted clients
  local -n clients=$1
  local name type
  reassigned=''
  for name in "${!clients[@]}"; do
    for type in default optional; do
      assign "clients/${ids[$name]}/$type-client-scopes" \
        " $(names "${type}ClientScopes" "${texts[$name]}")" " $(names "${type}ClientScopes" "${clients[$name]}")"
    done
  done
  if [[ -n $reassigned ]]; then list clients clientId; fi
}

assign() { # ENDPOINT ACTUAL WANTED: lists of names with a space around each
  local scope
  for scope in $3; do
    if [[ $2 != *" $scope "* ]]; then
      [[ -n ${scope_ids[$scope]:-} ]] || fail "$1: there is no client scope $scope"
      in_realm update "$1/${scope_ids[$scope]}" -n -b '{}'
      reassigned=yes
    fi
  done
  for scope in $2; do
    if [[ $3 != *" $scope "* ]]; then
      in_realm delete "$1/${scope_ids[$scope]}"
      reassigned=yes
    fi
  done
}

# Before anything is changed: a realm that is half held is worse than one that is not.
check_secrets() {
  local file body
  for file in "$REALM_FILES"/client.*.json; do
    body=$(<"$file")
    with_secret "$(value clientId "$body")" "$body" >"$session/body"
  done
  rm -f "$session/body"
}

declare -A scope_ids=()

check_secrets
sign_in
hold_realm
hold scope client-scopes name scope marked
for name in "${!ids[@]}"; do scope_ids[$name]=${ids[$name]}; done
for name in "${!scope_ids[@]}"; do
  mappers=("$REALM_FILES/mapper.$name".*.json)
  if ((${#mappers[@]})); then
    hold "mapper.$name" "client-scopes/${scope_ids[$name]}/protocol-mappers/models" name "mapper of $name" all
  fi
done
hold group groups name group marked
hold client clients clientId client marked
printf 'realm %s: %d created, %d updated, %d unchanged, %d removed\n' "$REALM" \
  "${count[created]}" "${count[updated]}" "${count[unchanged]}" "${count[removed]}"
