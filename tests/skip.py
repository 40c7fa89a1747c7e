"""skip(suite, what, needs, how): the line of a test that is left out, as tests/skip.sh writes it."""


def skip(suite, what, needs, how):
    print(f"skip {suite}: {what}: needs {needs} ({how}); nothing is wrong without", flush=True)
