#!/bin/sh
# Conditions, orders and groups of `query` over columns: rows and blocks, one thread and all, give the same bytes; and
# these are what SQLite and Python say.
# shellcheck disable=SC2016,SC2086,SC2154
. "$(dirname "$0")/../scratch.sh"

cat >hop.yaml <<'END'
version: 1
experiment: hop
model: hopper
simulation: {duration: 0.8, settle: 0.2}
parameters: {x_dot_des: 1.5}
search:
  method: grid
  over: {k_fp: {linspace: [10, 300, 15]}, k_att: [20, 90, 170], thrust: [5, 25, 60], k_xdot: [-0.3, 0.02, 0.3]}
objective: {minimize: velocity_error + attitude_rms}
END
for form in table blocks; do run run hop.yaml --name $form --set store.rows=$form --batch 50 --progress none; done
[ "$("$SQL" results/blocks/campaign.db 'SELECT count(*) > 1, sum(rows) FROM blocks')" = "1 405" ] &&
    [ "$("$SQL" results/table/campaign.db \
        'SELECT count(DISTINCT failure) > 1, count(*) - count(fitness) BETWEEN 9 AND 390 FROM trials')" = "1 1" ]
check $? "405 trials in a table, and in blocks; some failed"

processor=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
# same WORDS...: query says the same of the table, of blocks, and of blocks with one thread. In `out`.
same()
{
    "$HOPSCOTCH" query table "$@" --format csv >table.txt 2>err &&
        "$HOPSCOTCH" query blocks "$@" --format csv >out 2>err &&
        taskset -c "$processor" "$HOPSCOTCH" query blocks "$@" --format csv >one.txt 2>err &&
        cmp table.txt out >>err 2>&1 && cmp one.txt out >>err 2>&1
}
# as_sql SQL: these ids are those of a statement
as_sql()
{
    "$HOPSCOTCH" query table --sql "$1" --limit 0 --format csv >wanted.txt 2>err && cmp wanted.txt out >>err 2>&1
}

bad=
while IFS='|' read -r where order sql; do
    same --where "$where" --order "$order" --columns id --limit 0 && [ "$(wc -l <out)" -gt 3 ] &&
        { [ -z "$sql" ] || as_sql "SELECT id FROM trials WHERE $sql"; } || bad="$bad '$where', $order;"
    cp out whole.txt
    same --where "$where" --order "$order" --columns id --limit 7 && head -n 8 whole.txt | cmp -s - out ||
        bad="$bad the first 7 of '$where', $order;"
done <<'END'
1|fitness|1 ORDER BY fitness IS NULL, fitness, id
1|fitness:desc|1 ORDER BY fitness IS NULL, fitness DESC, id
1|id:desc|1 ORDER BY id DESC
k_fp > 100 and failure = 'none'|k_att,thrust:desc|k_fp > 100 AND failure = 'none' ORDER BY k_att, thrust DESC, id
failure != 'none'|failure:desc,k_fp|failure <> 'none' ORDER BY failure DESC, k_fp, id
not fitness < 1|k_att,thrust,k_xdot,k_fp:desc|NOT fitness < 1 ORDER BY k_att, thrust, k_xdot, k_fp DESC, id
k_xdot <= -0.3 or 25 = thrust|thrust,id:desc|k_xdot <= -0.3 OR thrust = 25 ORDER BY thrust, id DESC
k_fp / (thrust - 5) > 10|id|thrust = 5 OR k_fp / (thrust - 5) > 10 ORDER BY id
log(k_fp) + sin(k_att) > 4 or 0|k_att|
(failure = 'none') + (k_att > 50) = 1|k_fp:desc|(failure = 'none') + (k_att > 50) = 1 ORDER BY k_fp DESC, id
k_fp <= 10 and k_fp != 20|fitness|k_fp <= 10 ORDER BY fitness IS NULL, fitness, id
k_fp = 300 and fitness > 0|k_fp,fitness|k_fp = 300 AND fitness > 0 ORDER BY k_fp, fitness, id
id >= 40 and id < 80.5 and k_fp^2 > 10|thrust|id BETWEEN 40 AND 80 ORDER BY thrust, id
END
[ -z "$bad" ]
check $? "conditions and orders$bad"
same --where "k_fp > 1000" && [ "$(wc -l <out)" = 1 ] && same --where "failure = 'none such'" --limit 3 &&
    [ "$(wc -l <out)" = 1 ]
check $? "no trials"
bad=

# ---- groups
while IFS='|' read -r by columns where; do
    same --group-by "$by" ${columns:+--columns "$columns"} --where "$where" --limit 0 || bad="$bad $by $columns;"
    cp out "groups_$((n = ${n:-0} + 1)).csv"
done <<'END'
k_fp||1
failure|count,count(fitness),min(fitness),max(fitness)|1
k_att,failure|mean(fitness),sum(k_xdot),std(fitness),std(k_att)|1
fitness|count|k_fp > 200
thrust|median(fitness),quantile(fitness, 0.9),quantile(k_fp,0),quantile(k_fp,1)|failure = 'none' and k_fp > 30
END
[ -z "$bad" ]
check $? "groups of rows and of blocks$bad"
as_groups() # NUMBER SQL
{
    "$HOPSCOTCH" query table --sql "$2" --limit 0 --format csv 2>err | tail -n +2 >wanted.txt
    tail -n +2 "groups_$1.csv" | cmp - wanted.txt >>err 2>&1
}
as_groups 2 "SELECT failure, count(*), count(fitness), min(fitness), max(fitness) FROM trials GROUP BY failure" &&
    as_groups 4 "SELECT fitness, count(*) FROM trials WHERE k_fp > 200 GROUP BY 1 ORDER BY fitness IS NULL, fitness"
check $? "counts and extremes are those of SQL; missing values are a group"
cat >compare.py <<'END'
import csv, fractions, math, statistics, sqlite3, sys

rows = sqlite3.connect('results/table/campaign.db')
rows.row_factory = sqlite3.Row
def near(a, b): return a == b or abs(float(a) - b) <= 4e-16 * abs(b)
def groups(file, by, where):
    table = list(csv.DictReader(open(file)))
    assert table
    for group in table:
        terms = ' AND '.join(f'{c} = ?' for c in by)
        values = [group[c] if c == 'failure' else float(group[c]) for c in by]
        yield group, list(rows.execute(f'SELECT * FROM trials WHERE {where} AND {terms}', values))
def of(trials, column): return sorted(t[column] for t in trials if t[column] is not None)
def quantile(v, q):
    place = fractions.Fraction(q) * (len(v) - 1)
    k = int(place)
    a, b = fractions.Fraction(v[k]), fractions.Fraction(v[min(k + 1, len(v) - 1)])
    return float(a + (place - k) * (b - a))
for group, trials in groups('groups_1.csv', ['k_fp'], '1'):
    v = of(trials, 'fitness')
    assert int(group['count']) == len(trials)
    if v: assert near(group['median(fitness)'], statistics.median(v)) and float(group['min(fitness)']) == v[0]
    else: assert group['median(fitness)'] == ''
for group, trials in groups('groups_3.csv', ['k_att', 'failure'], '1'):
    v = of(trials, 'fitness')
    assert float(group['sum(k_xdot)']) == math.fsum(of(trials, 'k_xdot')), group
    assert float(group['std(k_att)']) == 0
    if v: assert float(group['mean(fitness)']) == math.fsum(v) / len(v)
    if len(v) > 1: assert near(group['std(fitness)'], statistics.stdev(map(fractions.Fraction, v))), group
for group, trials in groups('groups_5.csv', ['thrust'], "failure = 'none' AND k_fp > 30"):
    v, k = of(trials, 'fitness'), of(trials, 'k_fp')
    assert near(group['quantile(fitness, 0.9)'], quantile(v, 0.9)), group
    assert near(group['median(fitness)'], statistics.median(v)), group
    assert float(group['quantile(k_fp, 0)']) == k[0] and float(group['quantile(k_fp, 1)']) == k[-1]
END
if with_python "sums and quantiles are compared"; then
    python3 compare.py >out 2>&1
    check $? "sums, deviations and quantiles are those of Python"
fi

same --group-by k_fp --columns "k_fp, quantile(fitness,0.5), count" --order "quantile(fitness,0.5):desc" --limit 2 &&
    "$HOPSCOTCH" query table --group-by k_fp --columns "quantile(fitness, 0.5)" --limit 0 --format csv | tail -n +2 |
    grep -v ',$' | sort -t, -k2 -g -r | head -n 2 | cut -d, -f1 >wanted.txt &&
    tail -n +2 out | cut -d, -f1 | cmp - wanted.txt
check $? "groups in another order, with a limit"
works query blocks --group-by failure --json && has '"failure":"none"'
while read -r words; do
    read -r said
    refused query blocks --group-by $words
    has "$said" err
done <<'END'
k_fpp
--group-by: there is no column 'k_fpp'; did you mean 'k_fp'?
k_fp --columns men(fitness)
--columns: there is no aggregate 'men'; did you mean
k_fp --columns average(fitness)
there are count, min, max, mean, sum, std, median and quantile
k_fp --columns fitness
write mean(fitness)
k_fp --columns mean(failure)
'failure' is a text; only count(failure) takes it
k_fp --columns mean(fitnes)
did you mean 'fitness'?
k_fp --columns quantile(fitness)
a number from 0 to 1
k_fp --columns quantile(fitness,1.5)
a number from 0 to 1
k_fp --columns min
Write min(fitness)
k_fp --columns min(fitness
no closing parenthesis
k_fp --order thrust
'thrust' is not a column of the groups
k_fp --order count:up
'up' is not a direction
END
code=2 refused query blocks --group-by k_fp --sql "SELECT 1"
cat >wide.yaml <<'END'
version: 1
experiment: wide
seed: 1
model: bbob
search: {method: random, trials: 100100, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}}
store: {rows: table}
END
run run wide.yaml --progress none && "$SQL" results/wide/campaign.db "UPDATE trials SET failure = 'f' || id" >>err 2>&1
refused query wide --group-by x1
has "--group-by: more than 100000 groups; use columns with fewer values" err
refused query wide --order failure --limit 3
has "column failure has more than 65536 different texts" err
exit $status
