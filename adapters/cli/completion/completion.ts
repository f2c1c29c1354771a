import type { CommandSpec } from "../command.ts";
import { print } from "../terminal/terminal.ts";

/** Command that the scripts call with the words up to the cursor; the last one may be incomplete. */
export const COMPLETE = "__complete";

export type Shell = "bash" | "zsh" | "fish";

/** Scripts by shell. Each calls the program, so completions are never outdated. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_ringport() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  [[ $current == "=" ]] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ":files" ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("\${COMP_WORDS[0]}" ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ringport ringport`,
  zsh: `#compdef ringport
_ringport() {
  local line
  local -a candidates
  local -a input_words=("\${(@)words[2,CURRENT]}")
  compset -P '--*='
  for line in "\${(@f)$("\${words[1]}" ${COMPLETE} "\${(@)input_words}" 2>/dev/null)}"; do
    if [[ $line == ":files" ]]; then
      _files
    elif [[ -n $line ]]; then
      candidates+=("\${\${line//:/\\\\:}/$'\\t'/:}")
    fi
  done
  (( \${#candidates} )) && _describe -V ringport candidates
}
compdef _ringport ringport`,
  fish: `function __ringport_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l before (string match -r -- '^--[^=]+=' (commandline -ct))
  for line in ($words[1] ${COMPLETE} $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      for file in (__fish_complete_path (string replace -- "$before" "" (commandline -ct)))
        echo "$before$file"
      end
    else
      echo "$before$line"
    end
  end
end
complete -c ringport -f -a "(__ringport_complete)"`,
};

/** `ringport completion`: the script for completion with the Tab key. */
export const completion: CommandSpec = {
  summary: "Prints the script that completes commands, options, ids and voices in a shell.",
  details: [
    "bash: source <(ringport completion bash)             # in ~/.bashrc",
    "zsh:  source <(ringport completion zsh)              # in ~/.zshrc, after compinit",
    "fish: ringport completion fish | source              # in ~/.config/fish/config.fish",
  ].join("\n"),
  operands: [{ name: "SHELL", values: Object.keys(SCRIPTS) }],
  options: [],
  settings: [],
  async run({ operands }) {
    print(SCRIPTS[operands[0] as Shell]);
    return 0;
  },
};
