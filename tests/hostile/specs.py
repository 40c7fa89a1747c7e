"""Hostile specs: a name and the bytes of a file. They try to crash the parser, to inject text into a path, a statement,
a shell or a terminal, and to use numbers that no machine can hold. Most are refused; those in LEGAL are odd but
valid."""

import random

HEAD = "version: 1\nexperiment: hostile\nmodel: hopper\nsimulation: {duration: 0.01, settle: 0}\n"
BBOB = "version: 1\nexperiment: hostile\nmodel: bbob\n"
LEGAL = set()
SPECS = {}


def spec(name, text, legal=False):
    """`text`: a whole file, as text (UTF-8) or as bytes."""
    assert name not in SPECS, name
    SPECS[name] = text if isinstance(text, bytes) else text.encode()
    if legal:
        LEGAL.add(name)


def tail(name, text, legal=False):
    """`text` after a head that is right."""
    spec(name, HEAD.encode() + text + b"\n" if isinstance(text, bytes) else HEAD + text + "\n", legal)


def over(name, values, legal=False):
    """`values` of a searched parameter."""
    tail(name, f"search: {{over: {{k_fp: {values}}}}}", legal)


def minimize(name, expression, legal=False):
    """An objective, as a text in double quotes."""
    tail(name, 'objective: {minimize: "%s"}' % expression, legal)


def experiment(name, text, legal=False):
    """`text` as the experiment's name, as YAML."""
    spec(name, f"version: 1\nexperiment: {text}\nmodel: hopper\nsimulation: {{duration: 0.01, settle: 0}}\n", legal)


# ---- bytes ----------------------------------------------------------------------------------------------------------

spec("plain", HEAD, legal=True)
spec("empty", "")
spec("blanks", "   \n\n \n")
spec("comments", "# nothing\n# at all\n")
spec("document_start_alone", "---\n")
spec("document_end_alone", "...\n")
spec("nul_first", b"\0" + HEAD.encode())
spec("nul_in_value", b"version: 1\nexperiment: a\0b\nmodel: hopper\n")
spec("nul_last", HEAD.encode() + b"\0")
spec("nuls_only", b"\0" * 4096)
spec("nul_hides_rest", HEAD.encode() + b"\0\nsimulation: {duration: -1}\n")
spec("mark", b"\xef\xbb\xbf" + HEAD.encode(), legal=True)
spec("mark_twice", b"\xef\xbb\xbf\xef\xbb\xbf" + HEAD.encode())
spec("mark_alone", b"\xef\xbb\xbf")
spec("mark_in_middle", HEAD.encode() + b"seed: \xef\xbb\xbf7\n")
spec("utf16_little", HEAD.encode("utf-16-le"))
spec("utf16_big", HEAD.encode("utf-16-be"))
spec("utf16_marked", HEAD.encode("utf-16"))
spec("utf32", HEAD.encode("utf-32"))
spec("latin1", b"version: 1\nexperiment: gr\xf6sse\nmodel: hopper\n")
spec("stray_continuation", HEAD.encode() + b"# \x80\n")
spec("cut_sequence", HEAD.encode() + b"# \xe2\x82")
spec("cut_before_newline", HEAD.encode() + b"seed: \xe2\x82\n")
spec("overlong_slash", b"version: 1\nexperiment: a\xc0\xafb\nmodel: hopper\n")
spec("overlong_nul", b"version: 1\nexperiment: a\xc0\x80b\nmodel: hopper\n")
spec("overlong_dot_dot", b"version: 1\nexperiment: \xe0\x80\xae\xe0\x80\xae\nmodel: hopper\n")
spec("surrogate", HEAD.encode() + b"# \xed\xa0\x80\xed\xb0\x80\n")
spec("beyond_unicode", HEAD.encode() + b"# \xf4\x90\x80\x80\n")
spec("byte_ff", HEAD.encode() + b"# \xff\xfe\n")
spec("all_bytes", bytes(range(256)))
spec("random_bytes", random.Random(1).randbytes(65536))
spec("random_high_bytes", bytes(random.Random(2).randrange(128, 256) for _ in range(65536)))
spec("executable", b"\x7fELF\x02\x01\x01" + b"\0" * 57)
spec("gzip", b"\x1f\x8b\x08\x00" + random.Random(3).randbytes(512))
spec("sqlite", b"SQLite format 3\0" + b"\x10\0\x01\x01\0\x40\x20\x20" + b"\0" * 4072)
spec("hdf5", b"\x89HDF\r\n\x1a\n" + b"\0" * 504)
spec("escape_in_value", "version: 1\nexperiment: a\x1b[2Jb\nmodel: hopper\n")
spec("escape_in_comment", HEAD + "# \x1b]0;title\x07\n")
spec("escape_in_key", HEAD + "\x1b[31mseed: 1\n")
spec("bell", HEAD + "seed: \x07\n")
spec("backspaces", "version: 1\nexperiment: evil\x08\x08\x08\x08good\nmodel: hopper\n")
spec("delete", HEAD + "seed: 1\x7f\n")
spec("c1_control", HEAD + "seed: \u009b31m\n")
spec("next_line", HEAD + "seed: 1\u0085limits: {trials: 1}\n")
spec("line_separator", HEAD + "seed: 1\u2028limits: {trials: 1}\n")
spec("form_feed", HEAD + "\x0cseed: 1\n")
spec("vertical_tab", HEAD + "\x0bseed: 1\n")
spec("right_to_left", "version: 1\nexperiment: \u202egnp.exe\nmodel: hopper\n")
spec("right_to_left_in_key", HEAD + "se\u202eed: 1\n")
spec("zero_width_in_key", HEAD + "se\u200bed: 1\n")
spec("homoglyph_key", HEAD + "s\u0435ed: 1\n")  # a Cyrillic e
spec("fullwidth_digits", HEAD + "seed: \uff11\uff12\n")
spec("arabic_digits", HEAD + "seed: \u0661\u0662\n")
spec("emoji_name", "version: 1\nexperiment: \U0001f680\nmodel: hopper\n")
spec("combining_marks", HEAD + "seed: 1" + "\u0301" * 10000 + "\n")
spec("crlf", HEAD.replace("\n", "\r\n"), legal=True)
spec("cr_alone", HEAD.replace("\n", "\r"))
spec("cr_cr_lf", HEAD.replace("\n", "\r\r\n"))
spec("tab_indentation", "version: 1\nexperiment: hostile\nmodel: hopper\nsimulation:\n\tduration: 0.01\n")
spec("tab_after_colon", "version:\t1\nexperiment:\thostile\nmodel:\thopper\n", legal=True)
spec("no_break_space_indentation", "version: 1\nexperiment: hostile\nmodel: hopper\nsimulation:\n\u00a0duration: 1\n")
spec("no_newline_at_end", HEAD.rstrip("\n"), legal=True)

# ---- sizes ----------------------------------------------------------------------------------------------------------

MEBI = 1 << 20
spec("one_mebibyte_of_comment", HEAD + "#" * (MEBI - len(HEAD)), legal=True)
spec("one_byte_too_many", HEAD + "#" * (MEBI - len(HEAD) + 1))
spec("one_mebibyte_of_newlines", HEAD + "\n" * (MEBI - len(HEAD)), legal=True)
spec("four_mebibytes", HEAD + "# x\n" * MEBI)
spec("long_key", HEAD + "k" * 1000000 + ": 1\n")
spec("long_value", HEAD + "seed: " + "9" * 1000000 + "\n")
spec("long_name", "version: 1\nexperiment: " + "a" * 1000000 + "\nmodel: hopper\n")
spec("long_model", "version: 1\nexperiment: hostile\nmodel: " + "m" * 1000000 + "\n")
spec("long_quoted", HEAD + 'seed: "' + "x" * 1000000 + '"\n')
spec("long_unclosed_quote", HEAD + 'seed: "' + "x" * 1000000)
spec("long_escapes", HEAD + 'seed: "' + "\\x1b" * 200000 + '"\n')
spec("long_folded", HEAD + "seed: >\n" + "  word\n" * 100000)
spec("long_fraction", HEAD + "parameters: {k_fp: 0." + "0" * 100000 + "1}\n", legal=True)
spec("long_wide_characters", HEAD + "seed: " + "\u4e16" * 100000 + "\n")
spec("hundred_thousand_nodes", HEAD + "search: {over: {k_fp: [" + "1," * 100000 + "1]}}\n")
spec("many_values", HEAD + "search: {over: {k_fp: [" + "1," * 99000 + "1]}}\n", legal=True)
spec("many_unknown_keys", HEAD + "".join(f"key_{i}: 1\n" for i in range(40000)))
spec("many_unknown_parameters", HEAD + "parameters:\n" + "".join(f"  k_{i}: 1\n" for i in range(40000)))
spec("many_unknown_axes", HEAD + "search:\n  over:\n" + "".join(f"    k_{i}: [1]\n" for i in range(20000)))
spec("many_duplicates", HEAD + "seed: 1\n" * 45000)
spec("many_bad_values", HEAD + "search: {over: {k_fp: [" + "x," * 90000 + "x]}}\n")
spec("many_points", BBOB + "search:\n  method: list\n  points:\n" + "    - {x1: 1}\n" * 30000, legal=True)
spec("many_bad_points", BBOB + "search:\n  method: list\n  points:\n" + "    - {x1: a}\n" * 30000)
spec("many_trial_ids", HEAD + "record: {trajectories: {select: {trials: [" + "7," * 90000 + "7]}}}\n", legal=True)
spec("many_zip_groups", HEAD + "search: {over: {k_fp: [1]}, zip: [" + "[k_fp, k_fp]," * 20000 + "]}\n")
spec("many_excludes", HEAD + "search: {over: {k_fp: [1, 2]}, exclude: [" + "k_fp > 3," * 50000 + "]}\n")
spec("many_terrain_points", HEAD + "simulation: {terrain: table, terrain_points: ["
     + ",".join(f"[{i}, 0]" for i in range(25000)) + "]}\n")

# ---- structure ------------------------------------------------------------------------------------------------------

DEEP = 10000
tail("deep_lists", "seed: " + "[" * DEEP + "]" * DEEP)
tail("deep_unclosed_lists", "seed: " + "[" * DEEP)
tail("deep_mappings", "seed: " + "{a: " * DEEP + "1" + "}" * DEEP)
tail("deep_unclosed_mappings", "seed: " + "{a: " * DEEP)
tail("deep_mixed", "seed: " + "[{a: " * DEEP + "1" + "}]" * DEEP)
tail("deep_dashes", "seed:\n  " + "- " * DEEP + "1")
tail("deep_question_marks", "? " * DEEP + "a")
tail("deep_empty_keys", "{" * DEEP + "}" * DEEP)
spec("deep_indentation", HEAD + "seed:\n" + "".join(" " * i + "a:\n" for i in range(1, 1400)))
tail("deep_anchored", "seed: " + "".join(f"&a{i} [" for i in range(DEEP)) + "]" * DEEP)
tail("deep_33", "seed: " + "[" * 33 + "]" * 33)
tail("closing_only", "]" * DEEP)
tail("commas_only", "seed: [" + "," * DEEP + "]")
tail("colons_only", ":" * DEEP)
tail("dashes_only", "- " * 3 + "-" * DEEP)
tail("quotes_only", '"' * DEEP)
tail("bombs", "a: &a [l,l,l,l,l,l,l,l,l]\n" + "".join(
    f"{b}: &{b} [" + ",".join(f"*{a}" for _ in range(9)) + "]\n" for a, b in zip("abcdefgh", "bcdefghi")))
tail("bomb_of_mappings", "a0: &a0 {k: 1}\n" + "".join(
    f"a{i}: &a{i} {{x: *a{i - 1}, y: *a{i - 1}}}\n" for i in range(1, 30)))
tail("bomb_quadratic", "a: &a [" + "1," * 5000 + "1]\nb: [" + "*a," * 5000 + "*a]")
tail("bomb_in_values", "search: {over: {k_fp: &a [" + "1," * 999 + "1], k_att: *a, b_fp: *a, b_att: *a}}", legal=True)
tail("alias_to_itself", "seed: &a [*a]")
tail("alias_cycle", "a: &a {b: &b {c: *a}}")
tail("alias_unknown", "seed: *nothing")
tail("alias_before_anchor", "seed: *a\nlimits: &a {}")
tail("alias_as_key", "a: &a seed\n*a : 1")
tail("aliases_many", "a: &a 1\nb: [" + "*a," * 99000 + "*a]")
tail("anchors_many", "seed: [" + ",".join(f"&a{i} 1" for i in range(1000)) + "]")
tail("anchor_twice", "limits: &a {trials: 3}\ndevice: &a {batch: 4}", legal=True)
tail("anchor_without_name", "seed: & 1")
tail("anchor_long", "seed: &" + "a" * 100000 + " 1", legal=True)
tail("merge_key", "limits: {<<: {trials: 1}}")
tail("merge_bomb", "a: &a {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [*a, *a, *a]}}\n" for i in range(100)))
tail("tag_python", "seed: !!python/object/apply:os.system ['touch pwned']")
tail("tag_binary", "seed: !!binary gIGC")
tail("tag_int", "seed: !!int 7")
tail("tag_local", "seed: !include /etc/passwd")
tail("tag_verbatim", "seed: !<tag:yaml.org,2002:str> 7")
tail("tag_long", "seed: !" + "t" * 100000 + " 1")
spec("tag_directive", "%TAG ! tag:evil,2000:\n---\n" + HEAD, legal=True)
spec("tag_directive_used", "%TAG ! tag:evil,2000:\n---\n" + HEAD + "seed: !x 1\n")
spec("yaml_directive", "%YAML 9.9\n---\n" + HEAD)
spec("yaml_1_1_directive", "%YAML 1.1\n---\n" + HEAD, legal=True)
spec("directive_unknown", "%EVIL\n---\n" + HEAD)
spec("two_documents", HEAD + "---\n" + HEAD)
spec("many_documents", HEAD + "---\na\n" * 10000)
spec("after_document_end", HEAD + "...\nseed: 1\n")
tail("duplicate_key", "seed: 1\nseed: 2")
tail("duplicate_section", "limits: {trials: 1}\nlimits: {trials: 2}")
tail("duplicate_quoted", 'seed: 1\n"seed": 2')
tail("duplicate_escaped", 'seed: 1\n"\\x73eed": 2')
tail("empty_key", ": 1")
tail("null_key", "null: 1")
tail("list_key", "? [seed]\n: 1")
tail("mapping_key", "? {seed: 1}\n: 1")
tail("dotted_key", "limits.trials: 1")
tail("key_with_newline", '"se\\ned": 1')
tail("key_with_escape", '"\\e[31mseed": 1')
tail("key_with_bidi", '"\\u202eseed": 1')
tail("value_with_nul", 'seed: "1\\0"')
tail("value_with_surrogate", 'seed: "\\ud800"')
tail("value_beyond_unicode", 'seed: "\\U00110000"')
tail("escape_unknown", 'seed: "\\q"')
spec("list_at_top", "- version: 1\n")
spec("scalar_at_top", "hostile\n")
spec("number_at_top", "1\n")
spec("json_in_error", '{"version": 1, "experiment": "hostile", "model": "hopper",}', legal=True)
spec("shell_script", "#!/bin/sh\nrm -rf /\n")
spec("markup", "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>\n")

# ---- numbers --------------------------------------------------------------------------------------------------------

for name, value in {
    "number_huge": "1e400",
    "number_of_digits": "9" * 400,
    "number_exponent": "1e99999999999999999999",
    "number_negative_exponent_huge": "-1e308",
    "number_nan": ".nan",
    "number_infinity": "-.inf",
    "number_hexadecimal": "0x7fffffffffffffff",
    "number_octal": "0o777",
    "number_binary": "0b1",
    "number_sexagesimal": "1:30:00",
    "number_underscore": "1_0",
    "number_comma": "1,5",
    "number_date": "2001-01-01",
    "number_signs": "+-1",
    "number_two_points": "1.2.3",
    "number_spaces": "1 000",
    "number_format": "'%n'",
}.items():
    tail(name, f"parameters: {{k_fp: {value}}}")
tail("number_tiny", "parameters: {k_fp: 1e-400}", legal=True)
tail("number_denormal", "parameters: {k_fp: 4.9e-324}", legal=True)
tail("number_minus_zero", "parameters: {k_fp: -0.0}", legal=True)
tail("seed_2_64", "seed: 18446744073709551616")
tail("seed_2_53_and_one", "seed: 9007199254740993")
tail("seed_fraction", "seed: 1.5")
tail("seed_negative", "seed: -1")
tail("replicates_billion", "replicates: {count: 1000000000}")
tail("replicates_negative", "replicates: {count: -1}")
tail("replicates_fraction", "replicates: {count: 2.5}")
tail("batch_huge", "device: {batch: 1e18}")
tail("limits_huge", "limits: {trials: 1e300}")
tail("wall_time_negative", "limits: {wall_time: -1h}")
tail("failures_over_one", "limits: {failures: 101%}")
tail("best_huge", "record: {trajectories: {select: {best: 1e18}}}")
tail("keep_huge", "record: {debug: {newton: {on: failure, keep: 1e300}}}")
tail("sample_tiny", "record: {trajectories: {select: {best: 1}, sample: 1e-300}}")
spec("duration_huge", "version: 1\nexperiment: hostile\nmodel: hopper\nsimulation: {duration: 1e308}\n")
spec("step_tiny", "version: 1\nexperiment: hostile\nmodel: hopper\nsimulation: {dt: 1e-300}\n")
spec("dimension_huge", "version: 1\nexperiment: hostile\nmodel: bbob\nsimulation: {dimension: 1e9}\n")
spec("debug_of_everything", "version: 1\nexperiment: hostile\nmodel: hopper\nsimulation: {duration: 1e5, dt: 1e-7}\n"
     "replicates: {count: 65536}\nrecord: {debug: {newton: {select: {best: 1}, replicates: all}}}\n")
spec("trajectory_of_everything", "version: 1\nexperiment: hostile\nmodel: hopper\n"
     "simulation: {duration: 1e5, dt: 1e-7}\nreplicates: {count: 65536}\n"
     "record: {trajectories: {select: {every: 1}, replicates: all, sample: 1e-7}}\n")

# ---- grids ----------------------------------------------------------------------------------------------------------

tail("grid_1e18", "search: {over: {k_fp: {linspace: [1, 2, 1e6]}, b_fp: {linspace: [1, 2, 1e6]}, "
     "k_att: {linspace: [1, 2, 1e6]}}}")
tail("grid_1e60", "search: {over: {" + ", ".join(
    f"{k}: {{linspace: [1, 2, 9e15]}}" for k in ("k_fp", "b_fp", "k_att", "b_att")) + "}}")
tail("grid_2_64", "search: {over: {k_fp: {linspace: [1, 2, 4294967296]}, b_fp: {linspace: [1, 2, 4294967296]}}}")
tail("grid_2_47_of_65536", "search: {over: {k_fp: {linspace: [1, 2, 140737488355328]}}}\nreplicates: {count: 65536}",
     legal=True)
over("linspace_1e18", "{linspace: [1, 2, 1e18]}")
over("linspace_negative", "{linspace: [1, 2, -5]}")
over("linspace_fraction", "{linspace: [1, 2, 2.5]}")
over("linspace_nan", "{linspace: [.nan, 2, 5]}")
over("linspace_nested", "{linspace: [[1], {a: 2}, 5]}")
over("linspace_of_linspace", "{linspace: {linspace: [1, 2, 3]}}")
over("logspace_zero", "{logspace: [0, 1, 5]}")
over("logspace_denormal", "{logspace: [4.9e-324, 1, 5]}", legal=True)
over("arange_step_denormal", "{arange: [0, 1, 5e-324]}")
over("arange_step_zero", "{arange: [0, 1, 0]}")
over("arange_step_underflow", "{arange: [0, 1, 1e-999]}")
over("arange_backwards", "{arange: [2, 1, 1]}")
over("arange_many", "{arange: [0, 1e6, 1e-12]}")
over("values_empty", "[]")
over("values_nested", "[[1], [2]]")
over("values_texts", "['1', \"2\"]")
over("derive_and_values", "{derive: '1', linspace: [1, 2, 3]}")
tail("zip_nested", "search: {over: {k_fp: [1], b_fp: [1]}, zip: [[[k_fp, b_fp], [k_fp, b_fp]]]}")
tail("zip_of_one", "search: {over: {k_fp: [1]}, zip: [[k_fp]]}")
tail("zip_with_itself", "search: {over: {k_fp: [1]}, zip: [[k_fp, k_fp]]}")
tail("zip_unequal", "search: {over: {k_fp: [1, 2], b_fp: {linspace: [1, 2, 1e15]}}, zip: [[k_fp, b_fp]]}")
tail("zip_of_1e15", "search: {over: {k_fp: {linspace: [1, 2, 1e14]}, b_fp: {linspace: [1, 2, 1e14]}}, "
     "zip: [[k_fp, b_fp]]}", legal=True)
tail("random_1e18", "search: {method: random, trials: 1e18, over: {k_fp: {range: [1, 2]}}}")
tail("list_of_lists", "search: {method: list, points: [[k_fp, 1]]}")
tail("derive_itself", "search: {over: {k_fp: {derive: k_fp}}}")
tail("derive_cycle", "search: {over: {k_fp: {derive: b_fp}, b_fp: {derive: k_fp}}}")
tail("exclude_everything", "search: {over: {k_fp: {linspace: [1, 2, 1e12]}}, exclude: ['1']}", legal=True)

# ---- names and paths ------------------------------------------------------------------------------------------------

for name, value in {
    "name_parent": "../outside",
    "name_parents": "'../../../../../../tmp/outside'",
    "name_absolute": "/tmp/outside",
    "name_dot": "'.'",
    "name_dots": "'..'",
    "name_hidden": ".bashrc",
    "name_option": "--help",
    "name_dash": "'-rf'",
    "name_empty": "''",
    "name_null": "",
    "name_blank": "' '",
    "name_slash_inside": "a/b",
    "name_backslash": "'a\\b'",
    "name_drive": "'C:evil'",
    "name_nul": '"a\\0b"',
    "name_newline": '"a\\nb"',
    "name_escape": '"a\\e[2Jb"',
    "name_129": "a" * 129,
    "name_unicode": "r\u00e9sultats",
    "name_home": "~root",
    "name_star": "'*'",
    "name_shell": "'$(touch pwned)'",
    "name_backquotes": "'`touch pwned`'",
    "name_semicolon": "'a; touch pwned'",
    "name_pipe": "'a | touch pwned'",
    "name_redirect": "'a > pwned'",
    "name_sql": "\"x'; DROP TABLE trials; --\"",
    "name_sql_quotes": "'x\"); DROP TABLE campaign; --'",
    "name_format": "'%s%s%s%n'",
    "name_uri": "'file:x?mode=memory'",
    "name_list": "[a, b]",
    "name_mapping": "{a: b}",
}.items():
    experiment(name, value)
experiment("name_128", "a" * 128, legal=True)
experiment("name_dots_inside", "a..b", legal=True)
experiment("name_like_database", "campaign.db", legal=True)
experiment("name_like_catalogue", "index.db")
experiment("name_like_temporary", "gains.tmp", legal=True)
experiment("name_of_number", "0", legal=True)
experiment("name_true", "true", legal=True)
for name, text in {
    "path_model": "model: ../../hopper",
    "path_model_format": "model: '%s%n%p'",
    "path_model_sql": "model: \"hopper'--\"",
}.items():
    spec(name, f"version: 1\nexperiment: hostile\n{text}\n")
tail("path_method", "search: {method: /lib/evil.so}")
tail("path_terrain", "initial: {terrain: ../../../../etc/passwd}")
spec("path_terrain_points", HEAD.replace("settle: 0", "settle: 0, terrain: table, terrain_points: /etc/passwd"))
tail("path_csv", "search: {csv: /etc/passwd}")
tail("path_include", "include: /dev/zero")
tail("path_include_remote", "include: http://localhost/evil.yaml")
tail("path_union", "search: {union: [{include: /etc/shadow}]}")
tail("path_backend", "device: {backend: ./evil.so}")
tail("path_results", "results: /etc")
tail("key_sql", "parameters: {\"k_fp\\\" REAL); DROP TABLE trials; --\": 1}")
tail("key_shell", "parameters: {'$(touch pwned)': 1}")
tail("key_format", "parameters: {'%n%n%s': 1}")
tail("key_path", "parameters: {'../../k_fp': 1}")
tail("key_prototype", "parameters: {__proto__: {k_fp: 1}}")
tail("axis_sql", "search: {over: {\"k_fp; DROP TABLE trials\": [1]}}")
tail("axis_seed", "search: {over: {lane_seed: [1]}}")
tail("axis_fitness", "search: {over: {fitness: [1]}}")
tail("choice_format", "objective: {over: '%s%s%s%s'}")
tail("choice_long_call", "objective: {over: quantile(" + "9" * 100000 + ")}")
tail("choice_call_nan", "objective: {failed: penalty(nan)}")

# ---- expressions ----------------------------------------------------------------------------------------------------

minimize("expression_megabyte", "1" + "+1" * 500000)
minimize("expression_parentheses", "(" * DEEP + "1" + ")" * DEEP)
minimize("expression_open_parentheses", "(" * DEEP)
minimize("expression_closing_parentheses", "1" + ")" * DEEP)
minimize("expression_minuses", "-" * DEEP + "1")
minimize("expression_nots", "not " * 1000 + "1")
minimize("expression_powers", "2" + "^2" * 2000)
minimize("expression_calls", "abs(" * 1000 + "1" + ")" * 1000)
minimize("expression_depth_65", "(" * 65 + "1" + ")" * 65)
minimize("expression_depth_64", "(" * 64 + "velocity_error" + ")" * 64, legal=True)
minimize("expression_4096", "velocity_error" + " " * 4082, legal=True)
minimize("expression_4097", "velocity_error" + " " * 4083)
minimize("expression_longer_written_out", "velocity_error" + "+1" * 2041)
minimize("expression_arguments", "min(" + "1, " * 600 + "1)", legal=True)
minimize("expression_division_by_zero", "1/0", legal=True)
minimize("expression_zero_by_zero", "velocity_error*0/0", legal=True)
minimize("expression_log_of_minus", "log(-1) + sqrt(-1)", legal=True)
minimize("expression_overflow", "exp(1e308)^1e308", legal=True)
minimize("expression_number_huge", "1e999")
minimize("expression_number_digits", "1" * 4000)
minimize("expression_system", "system('touch pwned')")
minimize("expression_import", "__import__('os').system('touch pwned')")
minimize("expression_sql", "1; DROP TABLE trials")
minimize("expression_select", "(SELECT 1)")
minimize("expression_comment", "1 -- comment")
minimize("expression_load_extension", "load_extension('evil.so')")
minimize("expression_text", "'a'")
minimize("expression_unclosed_text", "'a")
minimize("expression_format", "%s%n")
minimize("expression_escape", "\\e[2J")
minimize("expression_nul", "1\\0+1")
minimize("expression_newlines", "velocity_error\\n+\\n1", legal=True)
minimize("expression_empty", "")
minimize("expression_blank", "   ")
minimize("expression_unknown_names", " + ".join(f"x{i}" for i in range(500)))
minimize("expression_long_name", "x" * 4000)
minimize("expression_chained", "1 < 2 < 3")
minimize("expression_assignment", "velocity_error := 1")
minimize("expression_unicode", "velocity_error \u00d7 2")
minimize("expression_index", "velocity_error[0]")
minimize("expression_attribute", "velocity_error.__class__")
minimize("expression_ternary", "1 ? 2 : 3")
minimize("expression_commas", "1,2")
minimize("expression_operators", "+*/^")
tail("expression_list", "objective: {minimize: [[[1]]]}")
tail("expression_mapping", "objective: {minimize: {a: 1}}")
tail("exclude_deep", "search: {over: {k_fp: [1]}, exclude: ['" + "(" * 1000 + "']}")
tail("exclude_text", "search: {over: {k_fp: [1]}, exclude: [\"failure = 'fell'\"]}")
tail("derive_system", "search: {over: {k_fp: {derive: \"system('touch pwned')\"}}}")
