#!/usr/bin/env python3
"""Every message of the program occurs in a test, and none says only that something failed.

Messages are the literals that the sources give to error_make, diagnose and their like. A message counts as tested if
three words in a row that no other message has, or all words between two of its formats, occur in a test or in a golden
text; if it has no such words, if all of it stands in one line there. This does not check that the test causes the
message.
"""
import re
import subprocess
import sys

MAKERS = (
    r"\b(?:error_make|diagnose|diagnose_at|diagnose_warning|file_error|shard_damaged|cloud_error"
    r"|expression_complain|expression_stop|expression_diagnose|doctor_find)\s*\("
)
PIECE_MIN = 9  # characters that are a message's own
LITERAL = r'"((?:[^"\\]|\\.)*)"'


def files(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], capture_output=True, text=True, check=True).stdout.split()


def arguments(text, start):
    """The text of a call's arguments, from behind its opening parenthesis."""
    depth, i = 1, start
    while depth:
        if text[i] == '"':
            i = re.compile(LITERAL).match(text, i).end()
            continue
        if text[i] == "'":
            i = re.compile(r"'(?:[^'\\]|\\.)+'").match(text, i).end()
            continue
        depth += (text[i] == "(") - (text[i] == ")")
        i += 1
    return text[start : i - 1]


def messages():
    """(file, message): the first literal of a call, with those that follow it directly."""
    for name in files("runner/*.c", "io/*.c", "sim/*.c", "sim/**/*.c"):
        text = re.sub(r"//[^\n]*", "", open(name).read())
        for call in re.finditer(MAKERS, text):
            inside = re.sub(r"\b(?:PRI[a-z0-9]+|CAMPAIGN_[A-Z]+|CATALOGUE_[A-Z]+)\b", '"%"', arguments(text, call.end()))
            found = re.search(rf"{LITERAL}(?:\s*{LITERAL})*", inside)
            if found:
                yield name, "".join(re.findall(LITERAL, found.group(0)))


def pieces(message):
    text = message.replace('\\"', '"').replace("\\n", "\n").replace("%%", "%")
    return [p.strip() for p in re.split(r"%[-+ #0]*[\d.*]*(?:ll|z|t|j|l|h)?[a-zA-Z]?|\n", text) if len(p.strip()) >= PIECE_MIN]


def runs(message):
    """Runs of three words of it, and its whole pieces."""
    found = set(pieces(message))
    for piece in pieces(message):
        words = piece.split()
        found |= {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}
    return {run for run in found if len(run) >= PIECE_MIN}


def shape(message):
    """A pattern of the message from its first piece to its last, whatever its formats print between them."""
    return r"[^\n]{0,200}?".join(re.escape(piece) for piece in pieces(message))


def main():
    seen = ""
    for name in files("tests/*.sh", "tests/**/*.sh", "tests/unit/*.c", "tests/golden/**", "tests/**/*.py", "tests/*.c"):
        if name != "tests/messages.py":
            seen += open(name, errors="replace").read().replace('\\"', '"').replace("\\`", "`") + "\n"
    everything = sorted(set(messages()))
    unseen, empty, owners = [], [], {}
    for _, message in everything:
        for run in runs(message):
            owners.setdefault(run, set()).add(message)
    for name, message in everything:
        own = {run for run in runs(message) if len(owners[run]) == 1}
        if re.fullmatch(r"[\W\d]*(?:%\w+[\W\d]*)*(?:it |this |that )?failed\W*", message):
            empty.append((name, message))
        if not (any(run in seen for run in own) if own else re.search(shape(message), seen)):
            unseen.append(f"{name}: {message}")
    for line in unseen:
        print(f"FAIL messages: no test sees: {line}")
    for name, message in empty:
        print(f"FAIL messages: says only that it failed: {name}: {message}")
    if not (unseen or empty):
        print(f"ok   messages: each of {len(everything)} is seen by a test")
    return 1 if unseen or empty else 0


sys.exit(main())
