# Completion of pitot in fish. In ~/.config/fish/config.fish: pitot completion fish | source
function __pitot_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	command $words[1] complete $words[2..-1] "$last" 2>/dev/null
end
complete -c pitot -e
complete -c pitot -a '(__pitot_complete)'
