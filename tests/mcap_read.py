"""Files of `replay --mcap` by the mcap package: each message, against the columns of the same trial in CSV.

    mcap_read.py NAME...    NAME.mcap against NAME.csv; a line of results for each
"""

import csv
import json
import math
import struct
import sys
import warnings
import zlib

from mcap.reader import NonSeekingReader, make_reader

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None
warnings.simplefilter("ignore", DeprecationWarning) # end_time has another name in newer versions

# what Foxglove's schemas of that name have (docs.foxglove.dev); those of the file may leave out what it does not send
TRANSFORM = {"timestamp": {"sec", "nsec"}, "parent_frame_id": str, "child_frame_id": str, "translation": {"x", "y", "z"},
             "rotation": {"x", "y", "z", "w"}}
ENTITY = {"timestamp", "frame_id", "id", "lifetime", "frame_locked", "metadata", "arrows", "cubes", "spheres",
          "cylinders", "lines", "triangles", "texts", "models"}


def joint_state(data):
    """Stamp (ns), names and the three lists of a sensor_msgs/msg/JointState in CDR, least byte first."""
    assert data[:4] == b"\0\1\0\0"
    body, at = data[4:], 0

    def take(form, size):
        nonlocal at
        at += -at % size
        at += size
        return struct.unpack_from("<" + form, body, at - size)[0]

    def text():
        nonlocal at
        size = take("I", 4)
        at += size
        return body[at - size:at - 1].decode()

    stamp = 10**9 * take("i", 4) + take("I", 4)
    assert text() == ""
    names = [text() for _ in range(take("I", 4))]
    lists = [[take("d", 8) for _ in range(take("I", 4))] for _ in range(3)]
    assert at == len(body)
    return stamp, names, lists


def check_transforms(message, log_time):
    for transform in message["transforms"]:
        assert set(transform) == set(TRANSFORM), transform
        for key, fields in TRANSFORM.items():
            assert isinstance(transform[key], fields) if fields is str else set(transform[key]) == fields, transform
        stamp = transform["timestamp"]
        assert 10**9 * stamp["sec"] + stamp["nsec"] == log_time
        rotation = transform["rotation"].values()
        assert abs(math.fsum(x * x for x in rotation) - 1) < 1e-9


def check_scene(message, frames):
    for entity in message["entities"]:
        assert set(entity) <= ENTITY, entity
        assert entity["frame_id"] in frames, entity["frame_id"]
        for solid in entity.get("cubes", []) + entity.get("spheres", []) + entity.get("cylinders", []):
            assert all(size > 0 for size in solid["size"].values())
    return {entity["id"] for entity in message["entities"]}


def records(data):
    """Where each record begins, its opcode and its body."""
    at = 0
    while at < len(data):
        opcode, size = struct.unpack_from("<BQ", data, at)
        yield at, opcode, data[at + 9:at + 9 + size]
        at += 9 + size


def check_indexes(name):
    """The indexes and checksums that the package does not look at, by the specification (mcap.dev/spec)."""
    with open(name + ".mcap", "rb") as file:
        data = file.read()
    assert data[:8] == data[-8:] == b"\x89MCAP0\r\n"
    summary, _, crc = struct.unpack("<QQI", data[-28:-8])
    assert zlib.crc32(data[summary:-12]) == crc, "the checksum of the summary"
    chunk, groups, found = None, {}, {}
    for at, opcode, body in records(data[8:-8]):
        if opcode == 6:
            chunk = body[32 + struct.unpack_from("<I", body, 28)[0] + 8:]
        if opcode == 7:
            topic, size = struct.unpack_from("<HI", body)
            for k in range(6, 6 + size, 16):
                time, offset = struct.unpack_from("<QQ", body, k)
                assert chunk[offset] == 5, "an index that leads to no message"
                assert struct.unpack_from("<9xHIQ", chunk, offset)[::2] == (topic, time)
                found[topic] = found.get(topic, 0) + 1
        if at + 8 >= summary:
            groups.setdefault(opcode, at + 8)
            if opcode == 14:
                group, start, _ = struct.unpack("<BQQ", body)
                assert groups[group] == start, "where a group of the summary begins"
    return sum(found.values())


def read(name):
    """Messages by topic, after all checks that need no other file."""
    with open(name + ".mcap", "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        topics, last, validators, fields = {}, 0, {}, {}
        for schema, channel, message in reader.iter_messages():
            assert message.log_time >= last and message.log_time == message.publish_time
            last = message.log_time
            content = message.data
            if channel.message_encoding == "json":
                content = json.loads(content)
                assert schema.encoding == "jsonschema"
                described = json.loads(schema.data)
                fields[channel.topic] = list(described["properties"])
                if Draft202012Validator and schema.id not in validators:
                    Draft202012Validator.check_schema(described)
                    validators[schema.id] = Draft202012Validator(described)
                if Draft202012Validator:
                    validators[schema.id].validate(content)
            topics.setdefault(channel.topic, []).append((message.log_time, message.sequence, content))
        metadata = {record.name: record.metadata for record in reader.iter_metadata()}
        counts = {summary.channels[c].topic: n for c, n in summary.statistics.channel_message_counts.items()}
        assert counts == {topic: len(messages) for topic, messages in topics.items()}, counts
        assert summary.statistics.message_count == sum(counts.values())
        assert summary.statistics.message_end_time == last
        assert all([m[1] for m in messages] == list(range(len(messages))) for messages in topics.values())
        times = [t for t, _, _ in next(iter(topics.values()))] if topics else []
        middle = times[len(times) // 2] if times else 0
        found = sum(1 for _ in reader.iter_messages(start_time=middle, end_time=middle + 1)) # by the index
        assert found == sum(t == middle for messages in topics.values() for t, _, _ in messages), found
    with open(name + ".mcap", "rb") as file:
        messages = sum(1 for _ in NonSeekingReader(file, validate_crcs=True).iter_messages())
        assert messages == summary.statistics.message_count == check_indexes(name)
    return topics, metadata, summary, fields


def main(name):
    topics, metadata, summary, fields = read(name)
    with open(name + ".csv") as file:
        rows = list(csv.DictReader(file))
    columns = {column: [row[column] for row in rows] for column in (rows[0] if rows else {})}
    seen = set()
    for topic, messages in topics.items():
        if topic in ("/tf", "/scene", "/joint_states"):
            continue
        assert len(messages) == len(rows), (topic, len(messages), len(rows))
        for k, (time, _, content) in enumerate(messages):
            assert time == math.floor(1e9 * float(rows[k]["time"]) + 0.5)
            for column, value in content.items():
                cell = rows[k][column]
                assert value == cell if isinstance(value, str) else repr(float(value)) == repr(float(cell)), (column, k)
            left_out = [column for column in fields[topic] if column not in content]
            assert all(not math.isfinite(float(rows[k][c] or "nan")) for c in left_out), (topic, k, left_out)
        seen.update(fields[topic])
    assert seen == set(columns), set(columns) ^ seen
    for k, (time, _, data) in enumerate(topics.get("/joint_states", [])):
        stamp, names, lists = joint_state(data)
        assert stamp == time
        for values, end in zip(lists, ("q", "rate", "torque")):
            for joint, value in zip(names, values):
                assert repr(value) == repr(float(columns[f"{joint}_{end}"][k])), (joint, end, k)
    far, frames = 0, {"world"}
    for k, (time, _, message) in enumerate(topics.get("/tf", [])):
        check_transforms(message, time)
        for transform in message["transforms"]:
            frame = transform["child_frame_id"]
            frames.add(frame)
            if frame + "_qw" not in columns:
                continue
            for axis, value in transform["translation"].items():
                far = max(far, abs(value - float(columns[f"{frame}_{axis}"][k])))
            turns = [(v, float(columns[f"{frame}_q{axis}"][k])) for axis, v in transform["rotation"].items()]
            far = max(far, 1 - abs(sum(a * b for a, b in turns)))
    drawn = set()
    for _, _, message in topics.get("/scene", []):
        drawn |= check_scene(message, frames)
    assert set(metadata) == {"hopscotch", "parameters", "metrics"}, metadata
    print(f"{name}: {summary.statistics.chunk_count} chunks;",
          " ".join(f"{topic}={len(messages)}" for topic, messages in topics.items()) + ";",
          f"frames within {far:.1e};", "drawn:", " ".join(sorted(drawn)) + ";",
          f"fitness {metadata['hopscotch']['fitness']} failure {metadata['hopscotch']['failure']}")


for each in sys.argv[1:]:
    main(each)
