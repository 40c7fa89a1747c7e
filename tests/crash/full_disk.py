"""Disks that are too small: a campaign fills a small disk (tmpfs) of 20 sizes. It ends with exit code 3 and a message
that names the file; its commits stay readable; and on a larger disk it continues and equals one that had enough space
from the start. A read-only disk is reported as such and can be read. Before all that, a run that is not expected to fit
is refused, and one that nearly fills the disk gives a warning.

Needs a mount namespace (unshare -rm); skips the disks without.   SIZES=N   (20; 4 with QUICK=1)
"""
import os
import subprocess
import sys

import crash

SPEC = "grid"
SIZES = int(os.environ.get("SIZES", "4" if crash.QUICK else "20"))
LEAST, MOST = 24, 1400  # KiB: at the least even the first folder does not fit; at the most everything fits


def in_namespace():
    """Starts this script again where it may mount; False if that is not allowed here."""
    if os.environ.get("CRASH_NAMESPACE"):
        return True
    if subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return False
    crash.shutil.rmtree(crash.work, ignore_errors=True)
    os.execvpe("unshare", ["unshare", "-rm", sys.executable, *sys.argv], dict(os.environ, CRASH_NAMESPACE="1"))


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


def try_size(place, whole, size):
    """Gives the status of the first run, and what went wrong."""
    mount("-t", "tmpfs", "-o", f"size={size}k", "small", place.root)
    result = place.call("run", "--ignore-space")
    wrong = ""
    if result.status == 3:
        message = "".join(line for line in result.text.splitlines() if line.startswith("hopscotch: "))
        if place.root not in message or "bytes free" not in message:
            wrong = f"the message does not say which file, or how much is free: {result.text}"
        wrong = wrong or place.damage()
        mount("-o", f"remount,size={4 * MOST}k", place.root)
        again = place.call("run")
        if again.status != 0:
            wrong = wrong or f"does not go on after the disk has grown: status {again.status}: {again.text}"
    elif result.status != 0:
        wrong = f"status {result.status}: {result.text}"
    wrong = wrong or whole.difference(place)
    subprocess.run(["umount", place.root], check=True)
    return result.status, wrong


def sizes(whole):
    place, wrongs, full = crash.Place("small", SPEC), [], 0
    for i in range(SIZES):
        size = LEAST + (MOST - LEAST) * i // (SIZES - 1)
        status, wrong = try_size(place, whole, size)
        full += status == 3
        if wrong:
            wrongs.append(f"{size} KiB: {wrong}")
    for wrong in wrongs[:10]:
        print("   " + wrong)
    crash.report(not wrongs and 0 < full < SIZES,
                 f"full_disk: {SIZES} sizes from {LEAST} to {MOST} KiB: {full} runs met the end of the disk, "
                 f"{len(wrongs)} wrong")


def read_only(whole):
    place = crash.Place("read-only", SPEC)
    mount("-t", "tmpfs", "small", place.root)
    place.call("run")
    mount("-o", "remount,ro", place.root)
    digest, run, other = place.digest(), place.call("run"), place.call("run", "--name", "other")
    subprocess.run(["umount", place.root], check=True)
    crash.report(digest == whole.digest, f"full_disk: a campaign on a read-only disk can be read {digest}")
    for result in (run, other):
        crash.report(result.status == 3 and "--results" in result.text and place.root in result.text,
                     f"full_disk: a run on a read-only disk: {result.text.strip().splitlines()[-1]}")


def expected_space():
    """What is free is what CRASH_FREE says (preload.c)."""
    place = crash.Place("refused", SPEC)
    refused = place.call("run", free=100000)
    crash.report(refused.status == 3 and "--ignore-space" in refused.text and place.folder in refused.text,
                 f"full_disk: a run that does not fit is refused: {refused.text.strip()}")
    crash.report(not os.path.exists(place.folder), "full_disk: before anything was computed, and it leaves nothing")
    ignored = place.call("run", "--ignore-space", free=100000)
    crash.report(ignored.status == 0, "full_disk: unless --ignore-space is given")
    place.clear()
    needed = next(n for n in range(100000, 4000000, 20000) if place.call("run", free=n).status == 0)
    tight = "warning: about" in place.call("run", "--name", "tight", free=needed).text
    roomy = "warning: about" in place.call("run", "--name", "roomy", free=2 * needed).text
    crash.report(tight and not roomy, f"full_disk: a run that nearly fills the disk ({needed} bytes) is warned of")
    again = place.call("run", free=1000)
    crash.report(again.status == 0, "full_disk: a campaign that is done needs no space")


if not in_namespace():
    crash.skip("full_disk", "small disks", "a mount namespace", "run it as root, or allow user namespaces")
else:
    reference = crash.Whole("full_disk", SPEC)
    sizes(reference)
    read_only(reference)
    crash.build_preload("full_disk")
    expected_space()
crash.finish()
