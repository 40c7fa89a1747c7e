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
        printf "{\"id\": %d, \"metrics\": {\"loss\": %.17g}}\n", id, start + (rate - 0.1) * (rate - 0.1)
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

exit $status
