#!/bin/sh
# Words as values of an axis: parameters of `model: command` that the spec declares with words. Trials in rows and in
# blocks; every reader shows the word.
. "$(dirname "$0")/../scratch.sh"

# A worker that wants the optimiser as a text: the loss depends on it, and on the rate.
cat >learn.sh <<'END'
#!/bin/sh
read -r hello
echo '{"hello": 1, "version": "learn 1"}'
while read -r request; do
    printf '%s\n' "$request" | awk '
    {
        id = $0; sub(".*\"id\": ", "", id)
        word = $0; sub(".*\"optimizer\": \"", "", word); sub("\".*", "", word)
        rate = $0; sub(".*\"rate\": ", "", rate)
        start = word == "adam" ? 0.1 : word == "sgd" ? 0.3 : word == "rmsprop" ? 0.2 : -9
        printf "{\"id\": %d, \"metrics\": {\"loss\": %.17g}, ", id, start + (rate - 0.1) * (rate - 0.1)
        wanted = index($0, "\"trajectory\": true")
        printf "\"trajectory\": %s}\n", wanted ? "{\"time\": [0, 1], \"x\": [0, " start "]}" : "null"
    }'
done
END
chmod +x learn.sh
cat >learn.yaml <<'END'
version: 1
experiment: learn
seed: 3
model: command
simulation: {program: [./learn.sh], workers: 1}
parameters:
  optimizer: {words: [adam, sgd, rmsprop], value: sgd}
  rate: {value: 0.1, range: [0.001, 1]}
metrics: [loss]
columns: {x: m}
search:
  over: {optimizer: all, rate: [0.1, 0.2, 0.9]}
  exclude: ["optimizer = 'adam' and rate > 0.5"]
objective: {minimize: loss}
END
go() { run run "$@" --allow-programs --progress none; }

for form in table blocks; do
    of="--set store.rows=$form"
    rm -rf results
    go learn.yaml $of --set limits.trials=4
    works resume learn --allow-programs --set limits.trials=1000 --progress none
    has '8 of 8'
    works best learn --format csv
    [ "$(sed -n 2p out)" = "1,0,0,0,adam,0.1,0.1,none,0,0.1" ]
    check $? "$form: the best trial has its word"
    works query learn --columns id,optimizer --where "optimizer != 'adam'" --order optimizer:desc,id --format csv
    [ "$(tail -n +2 out | tr '\n' ' ')" = "3,sgd 4,sgd 5,sgd 6,rmsprop 7,rmsprop 8,rmsprop " ]
    check $? "$form: a condition and an order by words"
    works query learn --group-by optimizer --columns count --format csv
    [ "$(tr '\n' ' ' <out)" = "optimizer,count adam,2 rmsprop,3 sgd,3 " ]
    check $? "$form: groups by words"
    works query learn --sql "SELECT optimizer, count(*) FROM trials GROUP BY 1" --format csv
    [ "$(tail -n +2 out | tr '\n' ' ')" = "adam,2 rmsprop,3 sgd,3 " ]
    check $? "$form: SQL has words"
    works replay learn/4 --allow-programs
    has 'the same to the bit'
    works doctor learn
    digest learn >"$form.digest"
done
cmp -s table.digest blocks.digest && [ -s table.digest ]
check $? "rows and blocks have the same digest"
grep -q 'optimizer: \[adam, sgd, rmsprop\]' results/learn/resolved.yaml
check $? "the resolved spec has the words"
cp results/learn/resolved.yaml again.yaml
works run again.yaml --allow-programs --progress none
has "learn is done already: 8 trials" err

# ---- readers
works show learn/4
grep -q '^optimizer  *sgd  ' out
check $? "show has the word"
works show learn/4 --json
has '"value": "sgd"'
refused query learn --where "optimizer = 'adm'"
has "'optimizer' is never 'adm'; did you mean 'adam'?" err
refused query learn --columns "mean(optimizer)" --group-by rate
has "'optimizer' is a text; only count(optimizer) takes it" err
works models learn.yaml
grep -q '^optimizer  *searched  *sgd  .*words .*adam, sgd or rmsprop' out
check $? "models lists the words"
works models learn.yaml --json
has '"default": "sgd"'
works export learn --jsonl learn.jsonl
grep -q '"optimizer":"rmsprop"' learn.jsonl
check $? "JSON lines have words"
works export learn --sqlite learn.db
"$SQL" learn.db "SELECT optimizer, typeof(optimizer) FROM trials WHERE id = 6" >out 2>err
grep -q rmsprop out && grep -q text out
check $? "the table for other programs has words"
works plot learn --kind scatter -o scatter.svg
grep -q '>rmsprop</text>' scatter.svg && grep -q 'data-x-words="adam|sgd|rmsprop"' scatter.svg &&
    grep -q 'at sgd</title>' scatter.svg
check $? "a tick per word, and the word of each point"
works plot learn --kind importance -o importance.svg
grep -q '>eta 0\.[0-9]' importance.svg
check $? "the importance of words is a correlation ratio"
works plot learn --kind pairs -o pairs.svg
works plot learn --kind parallel -o parallel.svg
grep -q '>sgd</text>' parallel.svg
check $? "parallel coordinates name the words"
works report learn
grep -q '<td>rmsprop</td>' results/learn/report.html
check $? "the report's table has words"
works verify learn --seeds 3 --allow-programs --progress none
grep -q '^optimizer  *sgd ' out && grep -q '^optimizer  *rmsprop ' out
check $? "verify changes a word to each other one"
works replay learn/4 --allow-programs --svg motion.svg
refused gradient learn/4 --parameters optimizer --allow-programs
has "values of optimizer are words, and only numbers have derivatives" err
works gradient learn/4 --allow-programs
lacks optimizer
"$SQL" results/learn/campaign.db "SELECT 'words ' || word FROM block_words WHERE number >= 65536" >out 2>err
[ "$(grep -o 'words [a-z]*' out | cut -d ' ' -f 2 | tr '\n' ' ')" = "adam sgd rmsprop unknown " ]
check $? "the database says what numbers of blocks mean"
cp -r results/learn damaged
"$SQL" results/learn/campaign.db "DELETE FROM block_words WHERE word = 'sgd'"
works query learn --columns id,optimizer --where "optimizer = 'rmsprop'" --format csv
[ "$(tail -n +2 out | tr '\n' ' ')" = "6,rmsprop 7,rmsprop 8,rmsprop " ]
check $? "a word that is gone does not move the others"
run doctor learn
has damaged
works doctor learn --repair --allow-programs
works query learn --columns id,optimizer --where "optimizer = 'sgd'" --format csv
[ "$(wc -l <out)" = 4 ]
check $? "doctor writes the words again"

# ---- an extension, parts
sed 's/learn$/grows/; s/optimizer: all/optimizer: [adam]/' learn.yaml >grows.yaml
go grows.yaml
sed 's/\[adam\]/[adam, rmsprop]/' grows.yaml >more.yaml
refused run more.yaml --allow-programs --progress none
has 'search.over.optimizer: [adam] -> [adam, rmsprop]' err
works run more.yaml --extend --allow-programs --progress none
has '5 of 5'
works replay grows/4 --allow-programs
sed 's/learn$/parted/' learn.yaml >parted.yaml
go parted.yaml --part 1/2
go parted.yaml --part 2/2
works gather parted --allow-programs
digest parted | cmp -s - table.digest
check $? "joined parts have the digest of one run"

# ---- methods: NAME SEARCH, which is run, and read back from its resolved spec; a trial is replayed
method()
{
    sed -e "s/learn\$/$1/" -e '/^search:/,/exclude:/d' learn.yaml >"$1.yaml"
    echo "search: $2" >>"$1.yaml"
    go "$1.yaml"
    cp "results/$1/resolved.yaml" resolved.yaml
    run run resolved.yaml --allow-programs --progress none
    has "$1 is done already" err
    works replay "$1/1" --allow-programs
    has 'the same to the bit'
}
rate='rate: {range: [0.01, 1]}'
printf 'optimizer,rate\nsgd,0.2\n"adam",0.3\n' >points.csv
method random "{method: random, trials: 6, over: {optimizer: [sgd, adam], $rate}}"
method sobol "{method: sobol, trials: 8, over: {optimizer: all, $rate}}"
works query sobol --group-by optimizer --columns count --format csv
[ "$(tail -n +2 out | wc -l)" = 3 ]
check $? "all words are drawn"
method list "{method: list, points: [{optimizer: sgd, rate: 0.2}, {optimizer: adam, rate: 0.3}]}"
method csv "{method: csv, csv: points.csv}"
method union "{union: [{over: {optimizer: [adam], rate: [0.1, 0.2]}}, {over: {optimizer: [rmsprop]}}]}"
method when "{over: {optimizer: all, rate: [0.1, 0.2]}, when: {rate: \"optimizer != 'sgd'\"}}"
works query when --format csv
[ "$(tail -n +2 out | wc -l)" = 5 ]
check $? "a condition on a word"
method derived "{over: {optimizer: all, rate: {derive: \"0.1 + 0.2 * (optimizer = 'sgd')\"}}}"
works query derived --columns optimizer,rate --format csv
grep -qx sgd,0.30000000000000004 out && grep -qx adam,0.1 out
check $? "an expression compares a word"
method centered "{method: centered, over: {optimizer: all, rate: [0.1, 0.2]}}"
method shares "{method: sobol_indices, samples: 8, over: {optimizer: all, $rate}}"
start='inject: [{optimizer: sgd, rate: 0.2}]'
method cmaes "{method: cmaes, over: {optimizer: [rmsprop, sgd], $rate}, cmaes: {stop: {generations: 3}, $start}}"
works query cmaes --where "optimizer = 'adam'" --format csv
[ "$(wc -l <out)" = 1 ] && grep -q 'optimizer: \[sgd, rmsprop\]' results/cmaes/resolved.yaml
check $? "cmaes searches two of three words"
method bayesian "{method: bayesian, over: {optimizer: [rmsprop, sgd], $rate}, bayesian: {stop: {trials: 12}}}"
works query bayesian --group-by optimizer --columns count --format csv
[ "$(cut -d , -f 1 out | tr '\n' ' ')" = "optimizer rmsprop sgd " ]
check $? "bayesian searches two of three words"
method outer "{method: cmaes, over: {$rate}, cmaes: {outer: {optimizer: all}, stop: {generations: 2}}}"
works status outer
grep -q '^ *1  sgd ' out
check $? "status names the word of each outer point"
works plot outer --kind outer -o outer.svg
grep -q '>sgd</text>' outer.svg
check $? "the plot of outer points has words"

# ---- sums over trials without rows
sed 's/learn$/sums/; s/^search:/record: {rows: {best: 2, every: 4}}\nsearch:/' learn.yaml >sums.yaml
go sums.yaml
works report sums
works plot sums --kind scatter -o sums.svg
grep -q '>rmsprop</text>' sums.svg
check $? "sums have a bin per word"

exit $status
