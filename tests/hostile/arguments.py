"""Hostile arguments: a name, the expected exit codes, and a command line. The campaign `base` exists."""

LONG = "x" * 100000
DEEP = "(" * 10000
NAMES = {
    "parent": "../outside", "absolute": "/tmp/outside", "dot": ".", "dots": "..", "slash": "a/b", "slashes": "//",
    "dash": "-x",
    "empty": "", "blank": " ", "long": "a" * 129, "very_long": LONG, "newline": "a\nb", "escape": "a\x1b[2Jb",
    "c1": "a\u009b2Jb", "bidi": "a\u202eb", "bytes": b"a\xff\xfeb", "shell": "$(touch pwned)",
    "quotes": "a'; DROP TABLE trials;--",
    "format": "%s%n%s%n", "star": "*", "home": "~root", "catalogue": "index.db", "journal": "index.db-wal",
    "lock": "index.lock",
}
TRIALS = {
    "huge": "base/99999999999999999999", "negative": "base/-1", "exponent": "base/1e3", "hexadecimal": "base/0x1",
    "none": "base/", "twice": "base/0/0", "parent": "base/../base/0x", "escape": "base/\x1b[31m0",
    "bytes": b"base/\xff",
    "missing": "base/123456789012345678", "name_only": "base", "text": "base/abc", "long": "base/" + LONG,
}
WHERES = {
    "sql": "1; DROP TABLE trials", "parenthesis": "1) OR (1", "select": "id IN (SELECT 1)", "union": "1 UNION SELECT 1",
    "quote": "'", "double_quote": '"', "unclosed": "((((", "deep": DEEP, "long": LONG, "comment": "1 -- x",
    "block": "1 /* x */",
    "extension": "load_extension('evil.so')", "blob": "randomblob(1e9)", "like": "failure LIKE '%'",
    "null": "fitness IS NULL",
    "escape": "\x1b[31m", "bytes": b"\xff\xfe", "cut": b"k_fp > 1 \xe2\x82", "empty": "", "blank": " ",
    "format": "%s%n", "unknown": "rowid = 1",
    "text_of_number": "k_fp = 'x'", "huge": "k_fp < 1e999", "newlines": "\n\n", "bidi": "\u202ek_fp > 1",
}
LEGAL_WHERES = {
    "injection_in_text": "failure = 'x'' OR 1=1 --'", "division": "fitness / 0 > 1",
    "overflow": "k_fp * 1e308 * 1e308 > 1",
    "escape_in_text": "failure = '\x1b[31m'", "always": "1", "nan": "log(-1) > 0",
}
ORDERS = {
    "sql": "id; DROP TABLE trials", "direction": "id:down", "number": "1", "function": "random()",
    "words": "id desc", "quoted": '"id"',
    "rowid": "rowid", "empty": "", "commas": ",,,", "escape": "id:\x1b[31m", "bytes": b"\xff",
    "many": ",".join(["id"] * 3000), "long": LONG,
}
COLUMNS = {
    "star": "*", "sql": "id FROM trials; DROP TABLE trials --", "function": "sqlite_version()",
    "dotted": "trials.id", "empty": "",
    "escape": "id\x1b[2J", "bytes": b"\xff", "many": ",".join(["id"] * 3000), "long": LONG,
}
SETS = {
    "empty": "", "equals": "=", "no_value": "seed=", "no_key": "=1", "dots": "..=1",
    "many_dots": "a." * 10000 + "a=1", "long_key": LONG + "=1",
    "long_value": "seed=" + LONG, "tag": "seed=!!python/object:os.system x", "alias": "limits=&a [*a]",
    "merge": "limits={<<: 1}",
    "deep": "seed=" + "[" * 10000, "name": "experiment=../x", "escape": "\x1b[2J=1",
    "escape_in_value": "seed=\x1b[2J", "bytes": b"seed=\xff",
    "newline": "seed=1\nmodel: bbob", "document": "seed=1\n---\nseed: 2", "through_scalar": "version.a.b=1",
    "through_list": "search.exclude.0=1",
    "unknown": "evil=1", "format": "%n%n=%n", "huge": "replicates.count=1e300", "nul_escape": 'seed="\\0"',
    "model": "model=../../x",
}
NUMBERS = ["-1", "1e6", "99999999999999999999", "0x10", "", "1.5", "\x1b[31m", "9223372036854775808", "NaN"]


def arguments():
    """name, codes, arguments"""
    for name, text in NAMES.items():
        for command in ("status", "best", "query", "digest", "resume", "gather"):
            yield f"{command}_{name}", (1, 2), [command, text]
        yield f"name_{name}", (1, 2), ["run", "spec.yaml", "--name", text, "--progress", "none"]
    for name, text in TRIALS.items():
        for command in ("show", "replay"):
            legal = command == "replay" and name == "twice"  # a trial and a replicate
            yield f"{command}_{name}", (0,) if legal else (1, 2), [command, text]
    for name, text in WHERES.items():
        yield f"where_{name}", (1, 2), ["query", "base", "--where", text]
    for name, text in LEGAL_WHERES.items():
        yield f"where_{name}", (0,), ["query", "base", "--where", text]
    for name, text in ORDERS.items():
        yield f"order_{name}", (1, 2), ["query", "base", "--order", text]
    for name, text in COLUMNS.items():
        yield f"columns_{name}", (1, 2), ["query", "base", "--columns", text]
    for name, text in SETS.items():
        yield f"set_{name}", (1, 2), ["check", "spec.yaml", "--set", text]
    for number in NUMBERS:
        for command in (["query", "base", "--limit"], ["best", "base", "--top"], ["check", "spec.yaml", "--threads"],
                        ["replay", "base/0", "--threads"], ["replay", "base/0", "--device"], ["plan", "spec.yaml",
                        "--batch"]):
            yield f"{command[0]}_{command[-1]}_{number!r}", (2,), [*command, number]
    yield "set_thousand", (0,), ["check", "spec.yaml"] + ["--set", "seed=1"] * 1000
    yield "command_escape", (2,), ["\x1b[31mbest"]
    yield "command_bytes", (2,), [b"\xff\xfe"]
    yield "command_long", (2,), [LONG]
    yield "command_empty", (2,), [""]
    yield "option_escape", (2,), ["best", "base", "--\x1b[31m"]
    yield "option_bytes", (2,), ["best", "base", b"--\xff"]
    yield "option_long", (2,), ["best", "base", "--" + LONG]
    yield "option_format", (2,), ["best", "base", "--%s%n"]
    yield "arguments_many", (2,), ["best"] + ["base"] * 10000
    yield "backend_path", (2,), ["replay", "base/0", "--backend", "../evil.so"]
    yield "results_file", (1, 3), ["run", "spec.yaml", "--results", "spec.yaml", "--progress", "none"]
    yield "results_device", (1, 3), ["run", "spec.yaml", "--results", "/dev/null", "--progress", "none"]
    yield "results_kernel", (1, 3), ["run", "spec.yaml", "--results", "/proc/evil", "--progress", "none"]
    yield "results_long", (1, 3), ["run", "spec.yaml", "--results", LONG, "--progress", "none"]
    yield "results_escape", (1,), ["best", "base", "--results", "\x1b[31m"]
    yield "spec_folder", (1, 3), ["check", "results"]
    yield "spec_zeros", (1,), ["check", "/dev/zero"]
    yield "spec_nothing", (1,), ["check", "/dev/null"]
    yield "spec_missing", (1,), ["check", "\x1b[31mmissing"]
    yield "spec_bytes", (1,), ["check", b"missing\xff"]
    yield "spec_loop", (1, 3), ["check", "loop"]
    yield "spec_sparse", (1,), ["check", "sparse"]
    yield "spec_memory", (1, 3), ["check", "/proc/self/mem"]
    yield "spec_odd_name", (1,), ["check", "odd\x1b[31m\nname.yaml"]
