#compdef pitot
# Completion of pitot in zsh. In ~/.zshrc, below compinit: source <(pitot completion zsh)
_pitot() {
	local line
	local -a found
	for line in "${(@f)$("${words[1]}" complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	if (( $#found )); then
		_describe pitot found
	else
		_files
	fi
}
if [[ ${funcstack[1]} == _pitot ]]; then
	_pitot "$@"
else
	compdef _pitot pitot
fi
