"""motion.csv as files that other programs write: log.npz by NumPy, log.mcap by the mcap package.

    recorded_files.py npz|mcap    of a recording of the joints shoulder and elbow
"""

import csv
import struct
import sys

with open("motion.csv") as file:
    rows = list(csv.DictReader(file))
column = {name: [float(row[name]) for row in rows] for name in rows[0]}


def npz():
    import numpy

    q = numpy.array([column["shoulder_q"], column["elbow_q"]]).T
    times = numpy.array([round(1e6 * t) for t in column["time"]], dtype=numpy.int64)
    arrays = dict(t=times, q=q, v=numpy.asfortranarray(numpy.degrees(numpy.array([column["elbow_rate"]]).T)[:, 0]),
                  mode=numpy.array(["run"] * len(times)), name="arm", dt=0.002, short=q[:-1, 0])
    numpy.savez("stored.npz", **arrays)
    numpy.savez_compressed("log.npz", **arrays)
    holes = q.copy()
    holes[::2, 0] = numpy.nan
    numpy.savez("holes.npz", time=times / 1e6, shoulder_q=holes[:, 0].astype(">f8"), elbow_q=holes[:, 1])


def joint_state(nanoseconds, names, position, velocity):
    """sensor_msgs/msg/JointState in CDR, least byte first."""
    body = bytearray()

    def align(to):
        body.extend(b"\0" * (-len(body) % to))

    def text(word):
        align(4)
        body.extend(struct.pack("<I", len(word) + 1) + word.encode() + b"\0")

    body.extend(struct.pack("<iI", nanoseconds // 10**9, nanoseconds % 10**9))
    text("")
    align(4)
    body.extend(struct.pack("<I", len(names)))
    for name in names:
        text(name)
    for values in (position, velocity, []):
        align(4)
        body.extend(struct.pack("<I", len(values)))
        if values:
            align(8)
            body.extend(struct.pack("<%dd" % len(values), *values))
    return b"\0\1\0\0" + bytes(body)


def mcap():
    from mcap.writer import CompressionType, Writer

    files = (("log.mcap", CompressionType.NONE, True), ("flat.mcap", CompressionType.NONE, False),
             ("zstd.mcap", CompressionType.ZSTD, True))
    for file, compression, chunked in files:
        with open(file, "wb") as out:
            writer = Writer(out, compression=compression, use_chunking=chunked, chunk_size=4096)
            writer.start("ros2", "test")
            other = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
            states = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"")
            talk = writer.register_channel("/talk", "cdr", other)
            fast = writer.register_channel("/joint_states", "cdr", states)
            slow = writer.register_channel("/slow", "cdr", states)
            for k, time in enumerate(column["time"]):
                stamp = 1700000000123456789 + round(1e9 * time)
                log = stamp + 5000000 + (k % 3) * 1000
                names, order = (["elbow", "shoulder"], (1, 0)) if k % 2 else (["shoulder", "elbow"], (0, 1))
                q = (column["shoulder_q"][k], column["elbow_q"][k])
                v = (column["shoulder_rate"][k], column["elbow_rate"][k])
                writer.add_message(talk, log, b"\0\1\0\0\2\0\0\0a\0", log)
                writer.add_message(fast, log, joint_state(stamp, names, [q[i] for i in order], []), log)
                if k % 5 == 0:
                    writer.add_message(slow, log, joint_state(stamp, ["elbow"], [], [v[1]]), log)
            writer.finish()


{"npz": npz, "mcap": mcap}[sys.argv[1]]()
