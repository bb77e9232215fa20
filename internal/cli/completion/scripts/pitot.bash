# Completion of pitot in bash. In ~/.bashrc: source <(pitot completion bash)
_pitot() {
	local word
	COMPREPLY=()
	while IFS=$'\t' read -r word _; do
		[[ $word == --*=* && ${COMP_WORDS[COMP_CWORD-1]} == = ]] && word=${word#*=}
		COMPREPLY+=("$(printf %q "$word")")
	done < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -o bashdefault -F _pitot pitot
