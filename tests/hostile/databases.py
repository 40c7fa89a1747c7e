"""Hostile campaigns: contents of a folder from another person. Each changes a copy of a good campaign: its database (a
connection, with foreign keys off), or the files in its folder."""

import hashlib
import os
import random
import shutil
import sqlite3

DATABASES, FILES = {}, {}
ESCAPE = "\x1b[2J\x1b]0;evil\x07\u202e\u009b31m"
BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{b}: &{b} [" + ",".join([f"*{a}"] * 10) + "]\n" for a, b in zip("abcdefgh", "bcdefghi"))
RECURSIVE = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x)"


def sql(name, *statements):
    """Statements that make the database hostile; a statement may be (text, values)."""
    assert name not in DATABASES, name
    DATABASES[name] = [s if isinstance(s, tuple) else (s, ()) for s in statements]


def files(change):
    """A function (folder) that makes the folder hostile; the case has its name."""
    FILES[change.__name__] = change
    return change


def apply(folder, statements):
    database = sqlite3.connect(folder / "campaign.db", isolation_level=None)
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute("DROP VIEW IF EXISTS best")  # SQLite refuses changes that it would not survive
    for text, values in statements:
        database.execute(text, values)
    database.close()


# ---- the schema -----------------------------------------------------------------------------------------------------

sql("application_other", "PRAGMA application_id = 7")
sql("version_newer", "PRAGMA user_version = 2000000000")
sql("version_negative", "PRAGMA user_version = -1")
sql("no_campaign", "DROP TABLE campaign")
sql("no_row", "DELETE FROM campaign")
sql("no_trials", "DROP TABLE trials")
sql("no_shards", "DROP TABLE shards")
sql("no_batches", "DROP TABLE batches")
sql("no_digests", "DROP TABLE IF EXISTS digests")
sql("empty_trials", "DELETE FROM trials")
sql("view_of_trials", "DROP TABLE trials", f"CREATE VIEW trials AS {RECURSIVE} SELECT n AS id, n AS fitness, 'none' AS "
    "failure FROM x")
sql("view_of_campaign", "ALTER TABLE campaign RENAME TO hidden", f"CREATE VIEW campaign AS {RECURSIVE} SELECT hidden.* "
    "FROM hidden, x")
sql("view_of_shards", "DROP TABLE shards",
    f"CREATE VIEW shards AS {RECURSIVE} SELECT n AS id, 'x' AS name, n AS bytes, "
    "'' AS sha256 FROM x")
sql("view_beside", f"CREATE VIEW pretty AS {RECURSIVE} SELECT * FROM x")
sql("virtual_trials", "DROP TABLE trials", "CREATE VIRTUAL TABLE trials USING rtree(id, fitness, failure)")
sql("trigger", "CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM trials; END",
    "CREATE TRIGGER evil_too AFTER UPDATE ON campaign BEGIN DELETE FROM trials; END")
sql("generated_column", "ALTER TABLE trials ADD COLUMN evil TEXT AS (hex(zeroblob(300000000)))")
sql("generated_function", "ALTER TABLE trials ADD COLUMN evil ANY AS (abs(-9223372036854775808))")
sql("check_function", "PRAGMA writable_schema = ON",
    "UPDATE sqlite_schema SET sql = replace(sql, 'fitness REAL', 'fitness REAL CHECK(load_extension(''evil.so''))')")
sql("default_function", "PRAGMA writable_schema = ON",
    "UPDATE sqlite_schema SET sql = replace(sql, 'fitness REAL', 'fitness REAL DEFAULT(writefile(''pwned'', ''x''))')")
sql("index_on_expression", "CREATE INDEX evil ON trials(abs(id) + length(failure))")
sql("schema_garbage", "PRAGMA writable_schema = ON",
    "UPDATE sqlite_schema SET sql = 'CREATE TABLE trials(' WHERE name = 'trials'")
sql("schema_other_table", "PRAGMA writable_schema = ON",
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'shards') "
    "WHERE name = 'trials'")
sql("schema_root_huge", "PRAGMA writable_schema = ON",
    "UPDATE sqlite_schema SET rootpage = 2000000000 WHERE name = 'trials'")
sql("schema_loop", "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'trials'")
sql("column_odd", 'ALTER TABLE trials ADD COLUMN "a""b; DROP TABLE trials --" REAL')
sql("column_escape", f'ALTER TABLE trials ADD COLUMN "{ESCAPE}" REAL')
sql("column_long", f'ALTER TABLE trials ADD COLUMN "{"x" * 1000000}" REAL')
sql("column_like_ours", 'ALTER TABLE trials ADD COLUMN "rank" TEXT')
sql("columns_many", *[f"ALTER TABLE trials ADD COLUMN c{i} REAL" for i in range(300)])

# ---- the campaign's row ---------------------------------------------------------------------------------------------

RESOLVED = "UPDATE campaign SET resolved = ?"
sql("resolved_empty", (RESOLVED, ("",)))
sql("resolved_garbage", (RESOLVED, ("\x01\x02{{{[[[",)))
sql("resolved_bomb", (RESOLVED, (BOMB,)))
sql("resolved_deep", (RESOLVED, ("[" * 100000,)))
sql("resolved_nul", (RESOLVED, ("version: 1\0",)))
sql("resolved_megabytes", (RESOLVED, ("# x\n" * 4000000,)))
sql("resolved_huge", ("UPDATE campaign SET resolved = hex(zeroblob(40000000))", ()))
sql("resolved_other_model", (RESOLVED, ("version: 1\nexperiment: base\nmodel: bbob\n",)))
sql("resolved_other_axes", ("UPDATE campaign SET resolved = replace(resolved, 'k_fp', 'k_att')", ()))
sql("resolved_huge_grid", (RESOLVED, ("version: 1\nexperiment: base\nmodel: hopper\nsearch: {over: {k_fp: {linspace: "
                                      "[1, 2, 1e14]}}}\nreplicates: {count: 65}\n",)))
sql("resolved_more_replicates", ("UPDATE campaign SET resolved = replace(resolved, 'count: 2', 'count: 500')", ()))
sql("resolved_long_life", ("UPDATE campaign SET resolved = replace(resolved, 'duration: 0.01', 'duration: 100000')",
    ()))
for column in ("name", "experiment", "model", "hash", "program_version", "compiler", "commit_id", "host", "created",
    "started",
               "finished", "state", "reason", "canonical", "spec"):
    sql(f"{column}_escape", (f"UPDATE campaign SET {column} = ?", (ESCAPE + "%s%n",)))
sql("texts_long", *[(f"UPDATE campaign SET {c} = ?", ("y" * 3000000,)) for c in ("experiment", "model", "state",
    "reason", "host")])
sql("numbers_huge", "UPDATE campaign SET seed = -9223372036854775808, numerics_version = 9223372036854775807, "
    "trials_total = -1, replicates = 9223372036854775807")

# ---- trials, searches, places ---------------------------------------------------------------------------------------

sql("fitness_infinite", "UPDATE trials SET fitness = 9e999")
sql("fitness_text", "CREATE TABLE other AS SELECT * FROM trials", "DROP TABLE trials",
    "ALTER TABLE other RENAME TO trials",
    "UPDATE trials SET fitness = 'low', id = 'first', failure = zeroblob(100), n_failed = 1e300 WHERE id = 0")
sql("ids_negative", "UPDATE trials SET id = id - 9223372036854775807")
sql("ids_huge", "UPDATE trials SET id = id + 9223372036854775800")
sql("reason_of_an_end", ("UPDATE campaign SET state = 'interrupted', reason = ?", (ESCAPE + "%s%n",)))
sql("failure_escape", ("UPDATE trials SET failure = ?", (ESCAPE,)))
sql("failure_long", ("UPDATE trials SET failure = ?", ("z" * 3000000,)))
sql("failure_format", ("UPDATE trials SET failure = ?", ("%s%n%s%n",)))
sql("failed_huge", "UPDATE trials SET n_failed = 9223372036854775807")
sql("parameters_out_of_range", "UPDATE trials SET k_fp = -1e308")
sql("replicates_odd", "UPDATE replicates SET replicate = replicate + 1000000 * trial + 1000000, trial = 0")
sql("state_short", "UPDATE searches SET state = x'01'")
sql("state_long", "UPDATE searches SET state = zeroblob(50000000)")
sql("state_beyond", "UPDATE searches SET state = x'0100000000000000ffffffffffffff7f'")
sql("state_negative", "UPDATE searches SET state = x'0100000000000000ffffffffffffffff'")
sql("state_other_version", "UPDATE searches SET state = x'63000000000000000000000000000000'")
sql("method_other", ("UPDATE searches SET method = ?", (ESCAPE,)))
sql("device_escape", ("UPDATE batches SET device = ?, backend = ?, version = ?", (ESCAPE, ESCAPE, ESCAPE)))
sql("batches_huge", "UPDATE batches SET trials = 9223372036854775807, failures = 9223372036854775807, lanes = -1",
    "CREATE TEMP TABLE more AS SELECT * FROM batches LIMIT 1", "UPDATE temp.more SET id = id + 1",
    "INSERT INTO batches SELECT * FROM temp.more")
for name, text in {"parent": "../../../outside", "absolute": "/etc/passwd", "empty": "", "hidden": ".",
    "escape": ESCAPE,
                   "long": "x" * 1000000, "missing": "999999.h5", "database": "../campaign.db"}.items():
    sql(f"shard_{name}",
        ("UPDATE shards SET name = ? || CASE WHEN id = (SELECT min(id) FROM shards) THEN '' ELSE id END", (text,)))
sql("shard_bytes_negative", "UPDATE shards SET bytes = -1")
sql("shard_bytes_huge", "UPDATE shards SET bytes = 4611686018427387904")
sql("shard_digest_empty", "UPDATE shards SET sha256 = ''")
sql("shard_digest_long", ("UPDATE shards SET sha256 = ?", (ESCAPE * 100000,)))
for column in ("samples", "row", "shard", "replicate"):
    for name, value in {"negative": "-1 - rowid", "huge": "9223372036854775807 - trial"}.items():
        sql(f"place_{column}_{name}", f"UPDATE OR IGNORE trajectories SET {column} = {value.replace('rowid', 'trial')}")
sql("recipe_escape", ("UPDATE trajectories SET recipe = ?", (ESCAPE,)))
sql("recipe_quote", ("UPDATE trajectories SET recipe = ?", ("x' OR '1'='1",)))
sql("events_many", "INSERT INTO events(time, kind, text) " + RECURSIVE + " SELECT 'x', 'y', 'z' FROM x LIMIT 100000")

# ---- files ----------------------------------------------------------------------------------------------------------


@files
def database_empty(folder):
    (folder / "campaign.db").write_bytes(b"")


@files
def database_text(folder):
    (folder / "campaign.db").write_text("hello\n" * 1000)


@files
def database_half(folder):
    os.truncate(folder / "campaign.db", (folder / "campaign.db").stat().st_size // 2)


@files
def database_header_alone(folder):
    os.truncate(folder / "campaign.db", 100)


@files
def database_sparse(folder):
    os.truncate(folder / "campaign.db", 1 << 40)


@files
def database_zeros(folder):
    with open(folder / "campaign.db", "r+b") as file:
        file.seek(4096)
        file.write(bytes(16384))


@files
def database_folder(folder):
    (folder / "campaign.db").unlink()
    (folder / "campaign.db").mkdir()


@files
def database_pipe(folder):
    (folder / "campaign.db").unlink()
    os.mkfifo(folder / "campaign.db")


@files
def database_loop(folder):
    (folder / "campaign.db").unlink()
    os.symlink("campaign.db", folder / "campaign.db")


@files
def journal_garbage(folder):
    (folder / "campaign.db-wal").write_bytes(random.Random(5).randbytes(100000))


@files
def journal_rollback(folder):
    magic = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    (folder / "campaign.db-journal").write_bytes(magic + random.Random(6).randbytes(10000))


@files
def shards_gone(folder):
    shutil.rmtree(folder / "shards")


@files
def shards_a_file(folder):
    shutil.rmtree(folder / "shards")
    (folder / "shards").write_text("x")


@files
def shard_a_pipe(folder):
    for shard in list((folder / "shards").iterdir()):
        shard.unlink()
        os.mkfifo(shard)


@files
def shard_a_device(folder):
    for shard in list((folder / "shards").iterdir()):
        shard.unlink()
        os.symlink("/dev/zero", shard)


@files
def shard_a_folder(folder):
    for shard in list((folder / "shards").iterdir()):
        shard.unlink()
        shard.mkdir()


@files
def shard_odd_names(folder):
    (folder / "shards" / "\x1b[31m\n.h5").write_text("x")
    (folder / "shards" / "-rf").write_text("x")
    (folder / "shards" / ".tmp").write_text("x")


@files
def resolved_gone(folder):
    (folder / "resolved.yaml").unlink()


@files
def resolved_bomb(folder):
    (folder / "resolved.yaml").write_text(BOMB)


@files
def lock_garbage(folder):
    (folder / "campaign.lock").write_text(ESCAPE * 1000)


@files
def links_to_outside(folder):
    """What a run writes must not go through a link to a file of somebody else."""
    for name in ("log.jsonl", "campaign.lock", "spec.yaml.tmp", "resolved.yaml.tmp"):
        (folder / name).unlink(missing_ok=True)
        os.symlink("../../victim", folder / name)


for seed in range(24):
    def pages(folder, seed=seed):
        """64 random bytes of the database"""
        chance = random.Random(seed)
        with open(folder / "campaign.db", "r+b") as file:
            size = file.seek(0, 2)
            for _ in range(64):
                file.seek(chance.randrange(100, size))
                file.write(bytes([chance.randrange(256)]))
    FILES[f"database_random_{seed}"] = pages


def shard_damages():
    """name, and what becomes of the bytes of a shard"""
    yield "empty", lambda data: b""
    yield "text", lambda data: b"hello" * 1000
    yield "header_alone", lambda data: data[:96]
    yield "half", lambda data: data[:len(data) // 2]
    yield "last_byte", lambda data: data[:-1]
    yield "doubled", lambda data: data + data
    yield "zeros", lambda data: bytes(len(data))
    yield "ones", lambda data: data[:8] + b"\xff" * (len(data) - 8)
    yield "other_names", lambda data: data.replace(b"time", b"\x1b[2J").replace(b"lanes", b"evil!")
    for seed in range(60):
        def flips(data, seed=seed):
            """random bytes, of the first 4096 if the seed is even: there the structure lies"""
            chance, out = random.Random(seed), bytearray(data)
            for _ in range(1 + seed // 4):
                out[chance.randrange(8, 4096 if seed % 2 == 0 else len(out))] = chance.randrange(256)
            return bytes(out)
        yield f"flips_{seed}", flips


def damage_shards(folder, change):
    """Every shard changed, and its row in the database made to agree."""
    database = sqlite3.connect(folder / "campaign.db", isolation_level=None)
    for shard in (folder / "shards").iterdir():
        data = change(shard.read_bytes())
        shard.write_bytes(data)
        database.execute("UPDATE shards SET sha256 = ?, bytes = ? WHERE name = ?",
                         (hashlib.sha256(data).hexdigest(), len(data), shard.name))
    database.close()
