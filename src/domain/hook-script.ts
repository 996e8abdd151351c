import { HOOK_FIRST_LINE, HOOK_HEADERS } from "./hook-event.ts";

const HEADERS = HOOK_HEADERS.filter((name) => name !== "time").map((name) => `${name} %s\\n`);

/**
 * A program for the hooks of an agent: `sh <file> <agent> <event>` leaves one event, with what it reads from
 * standard input as its body, in the inbox of the session that it runs in.
 *
 * It costs a shell, a `cat` and an `mv`. Outside of a session, that is without `AO_SESSION_ID`, `AO_LAUNCH_ID`
 * and a data directory that is there, it does nothing. It prints nothing, ends with 0 whatever happens, and
 * waits for nothing but the end of its input. The time of the event is that of its file. POSIX shell, tried
 * with dash 0.5.12 and bash 5.2 in POSIX mode.
 */
export const HOOK_SCRIPT = `#!/bin/sh
[ -n "$AO_SESSION_ID" ] && [ -n "$AO_LAUNCH_ID" ] && [ -d "$AO_DATA_DIR" ] && [ -n "$2" ] || exit 0
exec >/dev/null 2>&1
trap '' HUP INT PIPE TERM
umask 077
{ [ ! -t 0 ] && true 3<&0; } || exec </dev/null
inbox=$AO_DATA_DIR/inbox
[ -d "$inbox/new" ] && [ -d "$inbox/tmp" ] || mkdir -p "$inbox/tmp" "$inbox/new"
set -C
n=0
until name=$AO_LAUNCH_ID-$PPID-$$-$n && [ ! -e "$inbox/new/$name" ] && true >"$inbox/tmp/$name"; do
  n=$((n + 1))
  [ "$n" -lt 100 ] || exit 0
done
set +C
if {
  printf '${HOOK_FIRST_LINE}\\n${HEADERS.join("")}\\n' "$AO_SESSION_ID" "$AO_LAUNCH_ID" "$1" "$2" && cat
} >"$inbox/tmp/$name"; then
  mv -f "$inbox/tmp/$name" "$inbox/new/$name"
else
  rm -f "$inbox/tmp/$name"
fi
exit 0
`;
