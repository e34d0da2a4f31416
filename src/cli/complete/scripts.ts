import { asking } from './asking.ts';

/** Shells that there is a script for. */
export type Shell = 'bash' | 'zsh' | 'fish';

// The scripts know nothing: at each Tab they ask idctl itself, which knows its commands and may read the database.

const bash = `# bash completion of idctl. Now: eval "$(idctl completion bash)"; for good, write it to
# ~/.local/share/bash-completion/completions/idctl
_idctl() {
  local line=\${COMP_LINE:0:COMP_POINT} IFS=$' \\t\\n' word
  local -a words answers
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  word=\${words[\${#words[@]}-1]}
  IFS=$'\\n' read -rd '' -a answers < <("\${words[0]}" ${asking} "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  if [[ \${answers[0]-} == :files ]]; then
    compopt -o default 2>/dev/null
    return
  fi
  # Of a word with = or : in it bash replaces only what comes after them, and of one with @ from there on.
  local kept=\${word%"\${word##*[@=:]}"} answer
  kept=\${kept%@}
  [[ $COMP_WORDBREAKS == *@* && $COMP_WORDBREAKS == *=* ]] || kept=
  for answer in "\${answers[@]}"; do
    answer=\${answer%%$'\\t'*}
    [[ $answer == "$word"* ]] && COMPREPLY+=("\${answer#"$kept"}")
  done
}
complete -F _idctl idctl
`;

const zsh = `#compdef idctl
# zsh completion of idctl. Now: eval "$(idctl completion zsh)"; for good, write it to a file _idctl in a
# folder of $fpath.
_idctl() {
  local -a answers values
  local answer
  answers=("\${(@f)$("\${words[1]}" ${asking} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${answers[1]} == :files ]]; then
    _files
    return
  fi
  for answer in "\${answers[@]}"; do
    [[ -n $answer ]] && values+=("\${\${answer%%$'\\t'*}//:/\\\\:}:\${answer#*$'\\t'}")
  done
  _describe -t values idctl values
}
if [[ $funcstack[1] == _idctl ]]; then
  _idctl "$@"
else
  compdef _idctl idctl
fi
`;

const fish = `# fish completion of idctl. Now: idctl completion fish | source; for good, write it to
# ~/.config/fish/completions/idctl.fish
function __idctl_answers
    set -l words (commandline -opc) (commandline -ct)
    set -l answers ($words[1] ${asking} $words[2..-1] 2>/dev/null)
    if test "$answers[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $answers
    end
end
complete -c idctl -f -a '(__idctl_answers)'
`;

/** The script that makes a shell complete idctl's command lines. */
export const scripts: Record<Shell, string> = { bash, zsh, fish };
