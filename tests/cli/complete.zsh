# Types each argument into an interactive zsh, presses Tab, and prints the line that stands there then. The completion
# is the file _hopscotch of this folder.
zmodload zsh/zpty || exit 3
# Ctrl-T writes the line to a file, and clears it
start="PS1=; fpath=($PWD \$fpath); autoload -Uz compinit && compinit -u -D
show() { print -r -- \"\$BUFFER\" >$PWD/line; BUFFER= }; zle -N show; bindkey '^I' complete-word '^T' show"
zpty shell zsh -f -i
zpty -w shell $start
for words; do
    rm -f line
    zpty -w -n shell $words$'\t\x14'
    for wait in {1..1000}; do
        [[ -s line ]] && break
        sleep 0.02
    done
    cat line
done
zpty -d shell
