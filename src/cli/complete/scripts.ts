/** The first argument that the zsh and fish scripts pass to idctl; no help lists it. */
export const asking = '__complete';

/** The first argument from the bash script. The typed line and the part to replace follow it. */
export const askingBash = '__complete-bash';

/** The shells with a completion script. */
export type Shell = 'bash' | 'zsh' | 'fish';

// The scripts do not list the commands. At each Tab they ask idctl, which knows its commands and
// can read names from the database.

const bash = `# bash completion of idctl. For this shell: eval "$(idctl completion bash)". For every shell,
# write it to ~/.local/share/bash-completion/completions/idctl
_idctl() {
  COMPREPLY=()
  # idctl reads the line with bash's quoting rules, and answers quoted replacements for the word.
  IFS=$'\\n' read -rd '' -a COMPREPLY < <("$1" ${askingBash} "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
  if [[ \${COMPREPLY[0]-} == :files ]]; then
    COMPREPLY=()
    compopt -o default 2>/dev/null
  fi
}
complete -F _idctl idctl
`;

const zsh = `#compdef idctl
# zsh completion of idctl. For this shell: eval "$(idctl completion zsh)". For every shell, write it
# to a file _idctl in a folder of $fpath.
_idctl() {
  local -a answers values told
  local answer word=$PREFIX
  # Text in single quotes is taken literally. zsh itself quotes the text that it inserts.
  [[ $QIPREFIX == *\\' ]] || word=\${(Q)PREFIX}
  answers=("\${(@f)$("\${(Q)words[1]}" ${asking} "\${(@Q)words[2,CURRENT-1]}" "$word" 2>/dev/null)}")
  if [[ \${answers[1]} == :files ]]; then
    _files
    return
  fi
  for answer in "\${answers[@]}"; do
    [[ -n $answer ]] || continue
    values+=("\${answer%%$'\\t'*}")
    told+=("\${answer/$'\\t'/  -- }")
  done
  compadd -l -d told -a -- values
}
if [[ $funcstack[1] == _idctl ]]; then
  _idctl "$@"
else
  compdef _idctl idctl
fi
`;

const fish = `# fish completion of idctl. For this shell: idctl completion fish | source. For every shell,
# write it to ~/.config/fish/completions/idctl.fish
function __idctl_answers
    # This also unescapes a word with an open quote. fish itself quotes the text that it inserts.
    set -l word (string unescape -- (commandline -ct)); or return
    set -l words (commandline -opc) $word
    set -l answers ($words[1] ${asking} $words[2..-1] 2>/dev/null)
    if test "$answers[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $answers
    end
end
complete -c idctl -f -a '(__idctl_answers)'
`;

/** The completion script of each shell. */
export const scripts: Record<Shell, string> = { bash, zsh, fish };
