"""What the job files among the demos are made of, without a parser of protobuf texts: they are written plainly."""

import re

# The fields of Node.kind, as a job file writes them.
KINDS = "kernel copy fill upload download empty user_kernel expression graph conditional wait signal library prefetch advise symbol".split()


def block(text, start):
    """The text between the braces of which the first is at or behind `start`."""
    begin = text.index("{", start)
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1:at]
    raise ValueError("a brace is not closed")


def blocks(text, field):
    return [block(text, match.start()) for match in re.finditer(rf"\b{field}\s*:?\s*\{{", text)]


def without_text(text):
    """Comments and the contents of quotes may hold anything."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: m[0] if re.fullmatch(r'"[\w.<>: -]*"', m[0]) else '""', text)
    return re.sub(r"#[^\n]*", "", text)


def node_start(body):
    """The match of a node's kind and its brace, behind name and after; None: it has no known kind."""
    match = re.match(
        r"(?:\s*(?:name\s*:\s*\"[^\"]*\"|after\s*:\s*(?:\"[^\"]*\"|\[[^\]]*\]))\s*,?)*\s*(\w+)\s*:?\s*\{", body)
    return match if match and match[1] in KINDS else None


def kind_of(body):
    match = node_start(body)
    return match[1] if match else None


def rows_of_node(body):
    """What a node stands for in the table."""
    kind = node_start(body)
    if not kind:
        return []
    inner = block(body, kind.start(1))
    name = lambda field: re.search(rf"\b{field}\s*:\s*\"?([\w.<>:]+)", inner)
    if kind[1] == "library":
        return [f"library {name('call')[1]}"]
    if kind[1] == "conditional":
        return [f"conditional {name('kind')[1].replace('KIND_', '')}"]
    if kind[1] == "kernel":
        return [f"kernel {name('kernel')[1]}"]
    rows = [kind[1]]
    if kind[1] == "copy" and "box" in inner:
        rows = ["copy, 2D and 3D"]
    if kind[1] == "fill" and "rows" in inner:
        rows = ["fill, 2D"]
    if kind[1] == "download" and "DELIVERY_WHEN_READY" in inner:
        rows = ["download, when ready (host output)"]
    if kind[1] == "user_kernel":
        for field in ("cluster", "cooperative", "priority", "texture"):
            if re.search(rf"\b{field}\b", inner):
                rows.append(f"user_kernel, {field}")
    return rows


def examples(job):
    """(kind, text of the node) for each node of a job file, as it stands there."""
    for match in re.finditer(r"(?m)^nodes\s*\{", job):
        inner = block(job, match.start())
        kind = kind_of(without_text(inner))
        if kind is not None:
            end = job.index("{", match.start()) + len(inner) + 2
            yield kind, job[match.start():end]


def rows_of(job):
    """All that a job file goes through."""
    text = without_text(job)
    rows = {row for body in blocks(text, "nodes") for row in rows_of_node(body)}
    for kind in ("shared", "pinned", "managed", "parameter"):
        if any(re.search(rf"\b{kind}\b\s*[:{{]", body) for body in blocks(text, "buffers")):
            rows.add(f"buffer, {kind}")
    return rows
