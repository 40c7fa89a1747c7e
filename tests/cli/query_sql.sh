#!/bin/sh
# query --sql may only read and compute, within a time limit.
. "$(dirname "$0")/../scratch.sh"
sql() { run query grid --sql "$1" --format csv; }
gives() { sql "$1"; [ "$(cat out)" = "$2" ]; check $? "$1"; }
refused() { run query grid --sql "$1"; [ $? -eq 1 ] && [ ! -s out ]; check $? "refused: $1"; }

cat >grid.yaml <<'END'
version: 1
experiment: grid
seed: 7
model: bbob
simulation: {function: sphere, dimension: 2}
search: {method: grid, over: {x1: {linspace: [-1, 1, 101]}, x2: {linspace: [-1, 1, 11]}}}
END
works run grid.yaml --progress none

gives "SELECT count(*) AS n, min(x1) FROM trials" "n,min(x1)
1111,-1"
gives "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) FROM n;" "sum(i)
6"
gives "SELECT NULL AS a, 'x,y' AS b, 1.5 AS c, x'00' AS d" "a,b,c,d
,\"x,y\",1.5,(bytes)"
run query grid --sql "SELECT id FROM trials"
[ "$(wc -l <out)" = 51 ] && grep -qF "these are the first 50 rows; --limit 0 prints all" err
check $? "a table shows fifty rows"
run query grid --sql "SELECT id, f FROM trials ORDER BY f LIMIT 2" --json
[ "$(tr -d ' \n' <out | sed 's/-*[0-9.][-+0-9.e]*/N/g')" = '[{"id":N,"f":N},{"id":N,"f":N}]' ]
check $? "query --sql as JSON"
works query grid --sql "SELECT name FROM sqlite_schema WHERE type = 'table'"
has trials

# the view of the best trials; a view may do no more than a statement
gives "SELECT count(*) AS n FROM best" "n
1000"
gives "SELECT a.id = b.id AS same FROM (SELECT id FROM best LIMIT 1) a, (SELECT id FROM trials ORDER BY fitness, id) b
    LIMIT 1" "same
1"
cp -r results/grid results/viewed
for view in "SELECT * FROM pragma_table_info('trials')" "SELECT load_extension('x')" \
    "SELECT * FROM pragma_database_list" "SELECT row_digest(1, 2)"; do
    "$SQL" results/viewed/campaign.db "DROP VIEW best; CREATE VIEW best AS $view" >/dev/null
    run query viewed --sql "SELECT * FROM best"
    [ $? -eq 1 ] && [ ! -s out ]
    check $? "refused in a view: $view"
done
has "not authorized to use function" err

before=$(sha256sum results/grid/campaign.db)
for statement in "DELETE FROM trials" "UPDATE trials SET fitness = 0" "DROP TABLE trials" "CREATE TABLE a(b)" \
    "INSERT INTO tags VALUES('x')" "ATTACH 'other.db' AS other" "PRAGMA user_version = 3" "PRAGMA journal_mode" \
    "VACUUM INTO 'copy.db'" "SELECT load_extension('x')" "SELECT * FROM pragma_table_info('trials')" "BEGIN" \
    "REINDEX" "ANALYZE" "CREATE TEMP TABLE a AS SELECT 1" "DETACH main" "SELECT row_digest(1, 2)" \
    "SELECT sqlite_compileoption_get(1)"; do
    refused "$statement"
done
has "not authorized to use function" err
refused "ATTACH 'other.db' AS other"
has "may only read and compute" err
refused "SELECT 1; SELECT 2"
has "takes one SELECT statement, not several" err
refused ""
refused "SELECT * FORM trials"
has 'near "FORM": syntax error' err
refused "SELECT k_fp FROM trials"
has "no such column: k_fp" err
[ ! -e other.db ] && [ ! -e copy.db ] && [ "$(sha256sum results/grid/campaign.db)" = "$before" ]
check $? "nothing was written"
run query grid --timeout 1 \
    --sql "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
[ $? -eq 1 ] && grep -qF "took too long: give it more time" err
check $? "an endless query is ended"
run query grid --sql "SELECT length(replace(printf('%30000000d', 1), ' ', 'abc'))"
[ $? -eq 1 ] && grep -qF "too big" err
check $? "a query that fills the memory is refused"
run query grid --sql "SELECT 1" --where "x1 > 0"
[ $? -eq 2 ] && grep -qF -- "--sql and --where cannot be combined" err
check $? "--sql is not combined with --where"

# more ids than fit into one piece of their memory
cat >long.yaml <<'SPEC'
version: 1
experiment: long
seed: 7
model: bbob
simulation: {function: sphere, dimension: 2}
search: {method: random, trials: 140000, over: {x1: {range: [-1, 1]}, x2: {range: [-1, 1]}}}
SPEC
works run long.yaml --progress none
run query long --columns id --limit 0 --format csv
[ "$(wc -l <out)" = 140001 ] && [ "$(tail -n 1 out)" = 139999 ]
check $? "query of all 140,000 rows"
exit $status
