export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** `COMP_WORDBREAKS` cuts `project:id` at the colon; what is before it is taken off the candidates again. */
const BASH = `# completion of ao for bash
_ao() {
  local word candidate
  word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    [[ "$candidate" == "$word"* ]] && COMPREPLY+=("$candidate")
  done < <(ao __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _ao ao
`;

const ZSH = `#compdef ao
# completion of ao for zsh
_ao() {
  local -a candidates
  local value description
  while IFS=$'\\t' read -r value description; do
    candidates+=("\${value//:/\\\\:}\${description:+:$description}")
  done < <(ao __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#candidates} )); then _describe ao candidates; else _files; fi
}
if [ "$funcstack[1]" = "_ao" ]; then _ao "$@"; else compdef _ao ao; fi
`;

const FISH = `# completion of ao for fish
function __ao_complete
  set -l words (commandline -opc) (commandline -ct)
  ao __complete -- $words[2..-1] 2>/dev/null
end
complete -c ao -f -a '(__ao_complete)'
`;

/** The script that makes a shell ask \`ao __complete\` for candidates. */
export function completionScript(shell: Shell): string {
  switch (shell) {
    case "bash":
      return BASH;
    case "zsh":
      return ZSH;
    case "fish":
      return FISH;
  }
}
