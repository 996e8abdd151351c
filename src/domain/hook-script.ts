import { HOOK_HEADERS, HOOK_IN_PLACE_LINE, hookEndLine } from "./hook-event.ts";

const HEADERS = HOOK_HEADERS.filter((name) => name !== "time").map((name) => `${name} %s\n`);
/** As the `printf` of a shell takes it. */
const escaped = (text: string) => text.replaceAll("\n", "\\n");
const HEAD = escaped(`${HOOK_IN_PLACE_LINE}\n${HEADERS.join("")}end %s\n\n`);
const END = escaped(hookEndLine("%s"));

/**
 * A program for the hooks of an agent: `sh <file> <agent> <event>` leaves one event, with what it reads from
 * standard input as its body, in the inbox of the session that it runs in.
 *
 * It costs a shell and a `cat`: the event is written where it is read, and counts once its last line is there.
 * Outside of a session, that is without `AO_SESSION_ID`, `AO_LAUNCH_ID` and a data directory that is there, it
 * does nothing. `cat` reads no files of a locale, which it has no use for. It prints nothing, ends with 0 whatever
 * happens, and waits for nothing but the end of its input. The time of the event is that of its file. POSIX shell,
 * tried with dash 0.5.12, bash 5.2 in POSIX mode and busybox 1.35.
 */
export const HOOK_SCRIPT = `#!/bin/sh
[ -n "$AO_SESSION_ID" ] && [ -n "$AO_LAUNCH_ID" ] && [ -d "$AO_DATA_DIR" ] && [ -n "$2" ] || exit 0
exec >/dev/null 2>&1
trap '' HUP INT PIPE TERM XFSZ
umask 077
{ [ ! -t 0 ] && true 3<&0; } || exec </dev/null
ready=$AO_DATA_DIR/inbox/new
[ -d "$ready" ] || mkdir -p "$ready"
set -C
n=0
until name=$AO_LAUNCH_ID-$PPID-$$-$n && [ ! -e "$ready/$name" ] && true >"$ready/$name"; do
  n=$((n + 1))
  [ "$n" -lt 100 ] || exit 0
done
set +C
{
  printf '${HEAD}' "$AO_SESSION_ID" "$AO_LAUNCH_ID" "$1" "$2" "$name" && LC_ALL=C cat && printf '${END}' "$name"
} >"$ready/$name" || rm -f "$ready/$name"
exit 0
`;
