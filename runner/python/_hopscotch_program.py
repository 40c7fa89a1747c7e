"""The command `hopscotch` of a wheel: becomes the program in the package, without the time that importing it takes."""

import os
import signal
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hopscotch", "bin", "hopscotch")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and the program would inherit that
    try:
        os.execv(program, sys.argv)
    except OSError as error:
        sys.exit(f"hopscotch: {program} can't be started: {error.strerror}; install the wheel again")
