#!/bin/sh
# libhopscotch_sqlite, the loadable extension that shows trials in blocks to other programs: sqlite3 and Python get the
# rows of `query --sql`, also while a run goes on, and clear errors where files are not those that were written.
. "$(dirname "$0")/../scratch.sh"
library=${HOPSCOTCH_SQLITE:-$(dirname "$HOPSCOTCH")/libhopscotch_sqlite.so}
lacks_program "$library" "trials in blocks for other programs" && exit 0
spec=$root/tests/crash/specs/blocks.yaml

make() { works run "$spec" --progress none --batch 7 --name "$@"; }
make blocks
make rows --set store.rows=table

# ---- the library ----------------------------------------------------------------------------------------------------

if command -v nm >out && command -v readelf >out; then
    [ "$(nm -D --defined-only "$library" | cut -d ' ' -f 3)" = sqlite3_hopscotchsqlite_init ]
    check $? "it exports its entry point alone"
    ! nm -D --undefined-only "$library" | grep -q 'sqlite3_\|H5' && ! readelf -d "$library" | grep -q 'sqlite\|hdf5'
    check $? "it takes SQLite from the program that loads it, and needs no HDF5"
else
    skip "its symbols" "nm and readelf" "apt-get install binutils"
fi

# ---- the program sqlite3 --------------------------------------------------------------------------------------------

shell() # CAMPAIGN SQL
{
    sqlite3 -csv -header "results/$1/campaign.db" ".load ${library%.so}" "$2" 2>err | tr -d '\r' >out
    [ ! -s err ]
}
if command -v sqlite3 >out && sqlite3 :memory: ".load ${library%.so}" >out 2>&1; then
    while read -r sql; do
        "$HOPSCOTCH" query blocks --sql "$sql" --limit 0 --format csv | tr -d '\r' >wanted
        shell blocks "$sql" && cmp wanted out >>err && shell rows "$sql" && cmp wanted out >>err
        check $? "sqlite3: $sql"
    done <<'END_OF_QUERIES'
SELECT count(*) FROM trials
SELECT id, printf('%.17g', fitness) AS fitness, failure FROM trials WHERE x1 > 1 AND x2 < 2
SELECT id, printf('%.17g', abs(x1)) AS x1 FROM trials WHERE failure = 'none' ORDER BY fitness DESC, id LIMIT 7
SELECT failure, count(*) AS n, min(id) AS least, max(failure) AS word FROM trials GROUP BY failure
SELECT count(*) AS n FROM trials a JOIN trials b ON b.id = a.id + 1 WHERE b.fitness < a.fitness
END_OF_QUERIES
    shell blocks "EXPLAIN QUERY PLAN SELECT id FROM trials WHERE x1 > 1 ORDER BY fitness"
    ! grep -q 'TEMP B-TREE' out && grep -q 'VIRTUAL TABLE' out
    check $? "sqlite3: conditions and the order are computed by the table"
    sqlite3 results/blocks/campaign.db "SELECT load_extension('$library')" "SELECT count(*) FROM trials" >out 2>err
    [ "$(tail -n 1 out)" = 300 ]
    check $? "sqlite3: loaded by a statement"
else
    skip "trials in blocks in sqlite3" "the program sqlite3, with loadable extensions" "apt-get install sqlite3"
fi

# ---- Python ---------------------------------------------------------------------------------------------------------

loads="import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
python=
for python in python3 /usr/bin/python3 ''; do [ -n "$python" ] && $python -c "$loads" 2>err && break; done
if [ -z "$python" ]; then
    skip "trials in blocks in Python" "python3 whose sqlite3 has loadable extensions" "apt-get install python3"
    exit $status
fi
# A campaign that goes on: the process stops before a call, and is continued by SIGCONT.
pauses fsync:80 run "$spec" --progress none --batch 7 --name going
check $? "a run that stopped"

# A query that the program ends in the middle of the table: of 300,000 trials.
[ -n "${QUICK:-}" ] || works run "$spec" --progress none --name long --set search.trials=300000

cat >python.py <<'END_OF_PYTHON'
import csv
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

library, hopscotch, runner = sys.argv[1].removesuffix(".so"), os.environ["HOPSCOTCH"], int(sys.argv[2])


def check(good, name):
    print("good" if good else "bad", name, flush=True)


def connect(path, mode="ro"):
    database = sqlite3.connect(f"file:{path}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False)
    database.enable_load_extension(True)
    database.load_extension(library)
    return database


def campaign(name, mode="ro"):
    return connect(f"results/{name}/campaign.db", mode)


def rows(database, sql):
    return database.execute(sql).fetchall()


def error(call):
    try:
        return f"no error, but {call()}"
    except sqlite3.Error as failure:
        return str(failure)


def asked(name, sql):
    text = subprocess.run([hopscotch, "query", name, "--sql", sql, "--limit", "0", "--format", "csv"],
                          capture_output=True, text=True, check=True).stdout
    return [tuple(row) for row in csv.reader(text.splitlines())][1:]


def same(got, wanted):
    def cell(a, b):
        return b == "" if a is None else float(b) == a if isinstance(a, (int, float)) else a == b
    return len(got) == len(wanted) and all(all(map(cell, a, b)) for a, b in zip(got, wanted))


ALL = "SELECT * FROM trials ORDER BY id"
QUERIES = [
    ALL,
    "SELECT count(*), min(fitness), max(x1), total(x2) FROM trials",
    "SELECT id, fitness FROM trials WHERE x1 BETWEEN -1 AND 2 AND id % 2 = 0 ORDER BY x2 DESC, id",
    "SELECT id FROM trials WHERE id IN (3, 5, 299, 300) OR fitness IS NULL OR x1 = 'text' ORDER BY id DESC",
    "SELECT round(x1) AS r, count(*), avg(fitness), max(failure) FROM trials GROUP BY r ORDER BY r",
    "SELECT best.id, best.fitness = trials.fitness FROM best JOIN trials USING (id) ORDER BY best.id",
    "SELECT id, (SELECT x3 FROM trials t WHERE t.id = best.id) FROM best ORDER BY id",
]
blocks, plain = campaign("blocks"), campaign("rows")
for sql in QUERIES:
    check(same(rows(blocks, sql), asked("blocks", sql)), f"as query --sql: {sql}")
    check(rows(blocks, sql) == rows(plain, sql), f"as from rows: {sql}")
check(rows(plain, "SELECT count(*) FROM sqlite_temp_schema") == [(0,)], "a campaign with rows gets no table")
wanted = rows(plain, ALL)

# ---- attached databases
other = connect(":memory:", "memory")
check(rows(other, "SELECT count(*) FROM sqlite_temp_schema") == [(0,)], "no campaign, no table")
other.execute("ATTACH 'results/blocks/campaign.db' AS \"a b\"")
other.execute("ATTACH 'results/rows/campaign.db' AS r")
for text in '"a b"', "'a b'":
    other.execute(f"CREATE VIRTUAL TABLE temp.t USING hopscotch_trials({text})")
    check(rows(other, "SELECT * FROM t ORDER BY id") == wanted, f"an attached database: {text}")
    other.execute("DROP TABLE t")
for arguments, words in (("temp.t USING hopscotch_trials(r)", "has no trials in blocks"),
                         ("temp.t USING hopscotch_trials(nothing)", "is not an attached database"),
                         ("temp.t USING hopscotch_trials", "is not an attached database"),
                         ("temp.t USING hopscotch_trials(r, r)", "CREATE VIRTUAL TABLE temp.NAME"),
                         ("main.t USING hopscotch_trials(\"a b\")", "CREATE VIRTUAL TABLE temp.NAME")):
    said = error(lambda: other.execute(f"CREATE VIRTUAL TABLE {arguments}"))
    check(words in said, f"{arguments}: {said}")
other.execute("CREATE VIRTUAL TABLE temp.t USING hopscotch_trials(\"a b\")")
other.execute('DETACH "a b"')
said = error(lambda: rows(other, "SELECT count(*) FROM t"))
check("unknown database" in said, f"detached: {said}")
other.execute("DROP TABLE t")
other.close()
check("may not be modified" in error(lambda: blocks.execute("DELETE FROM trials")), "the table can't be changed")

# ---- threads
answers, times = [], 1 if os.environ.get("QUICK") else 5


def ask():
    database = campaign("blocks")
    answers.append([[rows(database, sql) for sql in QUERIES] for _ in range(times)])
    database.close()


threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
once = [rows(blocks, sql) for sql in QUERIES]
check(len(answers) == 8 and all(answer == [once] * times for answer in answers), "eight threads and connections")

# ---- the campaign changes
mine = campaign("blocks", "rw")
mine.execute("BEGIN")
mine.execute("DELETE FROM blocks WHERE id = (SELECT max(id) FROM blocks)")
fewer = rows(mine, "SELECT count(*) FROM trials")[0][0]
mine.execute("ROLLBACK")
check(0 < fewer < 300 and rows(mine, ALL) == wanted, "its own transaction is seen, and is undone")
mine.close()

going = campaign("going")
count = rows(going, "SELECT count(*) FROM trials")[0][0]
check(0 < count < 300 and rows(going, ALL) == wanted[:count], "in the middle of a run")
cursor = going.execute(ALL)
begin = cursor.fetchmany(3)
again = going.execute("SELECT id, x1 FROM trials")
again.fetchone()
os.kill(runner, signal.SIGCONT)
watch = campaign("going")
end = time.monotonic() + 300
while rows(watch, "SELECT state FROM campaign") == [("running",)] and time.monotonic() < end:
    counted = rows(watch, "SELECT count(*), max(id) FROM trials")[0]
    if counted[0] != counted[1] + 1:
        check(False, f"one state: {counted}")
    time.sleep(0.01)
check(rows(watch, ALL) == wanted, "the connection sees the trials that were added")
check(begin + cursor.fetchall() == wanted[:count] and len(again.fetchall()) == count - 1,
      "a statement that began before reads the state in which it began")
check(rows(going, ALL) == wanted, "the next one reads the new state")

# ---- files that are not those that were written
def shards(name):
    folder = f"results/{name}/shards"
    return [f"{folder}/{file}" for file in sorted(os.listdir(folder)) if file.startswith("rows_")]

def copy(name):
    shutil.rmtree(f"results/{name}", ignore_errors=True)
    shutil.copytree("results/blocks", f"results/{name}")
    return campaign(name)

def damages(name, words, damage):
    database = copy("damaged")
    read = rows(database, ALL) == wanted  # its files are compared
    file = shards("damaged")[0]
    damage(file)
    said = error(lambda: rows(database, ALL))
    new = error(lambda: rows(campaign("damaged"), ALL))
    check(read and words in said and words in new, f"{name}: {said}; {new}")
    database.close()

def flip(file):
    database = sqlite3.connect("results/damaged/campaign.db")
    sql = "SELECT substr(columns, 48 * 6 + 17, 8) FROM blocks WHERE name = ?"  # where the fitness begins
    offset = int.from_bytes(database.execute(sql, (os.path.basename(file),)).fetchone()[0], "little")
    database.close()
    with open(file, "r+b") as opened:
        opened.seek(offset + 20)
        opened.write(b"xyz")

def link(file):
    os.rename(file, "elsewhere.h5")
    os.symlink(os.path.abspath("elsewhere.h5"), file)

def link_folder(file):
    folder = os.path.dirname(file)
    shutil.rmtree("elsewhere", ignore_errors=True)
    os.rename(folder, "elsewhere")
    os.symlink(os.path.abspath("elsewhere"), folder)

damages("a number in a file that was read before", "what was written; `hopscotch resume damaged --results ", flip)
damages("a file that was cut", "is damaged: it has 100 bytes", lambda file: os.truncate(file, 100))
damages("a file that is missing", "its file is missing; `hopscotch resume ", os.remove)
damages("a link in place of a file", "is a link, not a regular file", link)
damages("a link in place of the folder", "is a link", link_folder)

# ---- records that another program changed
def hostile(sql, words):
    copy("hostile").close()
    changed = sqlite3.connect("results/hostile/campaign.db", isolation_level=None)
    changed.executescript(sql)
    changed.close()
    said = error(lambda: rows(campaign("hostile"), ALL))
    check(words in said, f"{sql[:60]}: {said}")

for sql, words in (
    ("UPDATE blocks SET name = '../spec.yaml' WHERE id = 3", "is not that of a file"),
    ("UPDATE blocks SET first = -5", "have no valid ids"),
    ("UPDATE blocks SET columns = zeroblob(8)", "it has other columns"),
    ("UPDATE blocks SET columns = zeroblob(length(columns))", "the same id"),
    ("UPDATE blocks SET digest = digest + 1", "not those that were written"),
    ("PRAGMA user_version = 99", "has schema version 99"),
    ("PRAGMA application_id = 7", "is not a campaign of hopscotch with trials in blocks"),
    ("DROP TABLE block_words; CREATE VIEW block_words AS SELECT 0 AS number, 'x' AS word", "is not a campaign"),
    ("DROP TABLE best", "is not a campaign"),
    ("DROP TABLE blocks; CREATE VIEW blocks AS SELECT 1 AS digest", "no such table: trials"),
    ("DROP TABLE best; CREATE TABLE best(fitness REAL, id INTEGER, failure TEXT)", "is not the id"),
):
    hostile(sql, words)

# ---- columns that another program changed, while a connection is open
database = copy("changed")
other = sqlite3.connect("results/changed/campaign.db", isolation_level=None)
read = rows(database, ALL) == wanted
other.execute("ALTER TABLE best RENAME COLUMN distance TO far")
said = error(lambda: rows(database, ALL))
check(read and "campaign.db changed: connect again" in said and "the columns of " in said, f"other columns: {said}")
other.close()
database.close()

# ---- a program that interrupts a statement while the table looks for its first row
if os.path.exists("results/long"):
    long = campaign("long")
    long.set_progress_handler(lambda: 1, 1000)
    time.sleep(0.1)  # the table asks the program at most every 20 ms
    said = error(lambda: rows(long, "SELECT count(*) FROM trials WHERE x1 > 0 AND x2 = 0.125 AND x3 > 0"))
    long.set_progress_handler(None, 0)
    all_trials = rows(long, "SELECT count(*) FROM trials") == [(300000,)]
    check(said == "interrupted" and all_trials, f"its limits hold: {said}")
    long.close()

# ---- a folder that is removed and made again, in a process that goes on
for folder in "first", "again":
    shutil.rmtree("new", ignore_errors=True)
    shutil.copytree("results/blocks", "new/blocks")
    database = connect("new/blocks/campaign.db")
    check(rows(database, ALL) == wanted, f"a results folder that was made {folder}")
    database.close()
END_OF_PYTHON
$python python.py "$library" "$pid" >log 2>err
result=$?
kill -9 "$pid" 2>/dev/null
while read -r good name; do
    [ "$good" = good ]
    check $? "$name"
done <log
check $result "Python: no other error"
exit $status
