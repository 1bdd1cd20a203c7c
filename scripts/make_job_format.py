#!/usr/bin/env -S python3 -B
"""Writes docs/job-format.md from the protos' comments, the kernels' schemas and docs/job-format.intro.md.

  scripts/make_job_format.py BUILD > docs/job-format.md     BUILD: a build folder that has bin/weft
"""
import json
import os
import re
import subprocess
import sys

import demo_jobs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of job.proto: what a server says of a job, rather than what a job says.
ANSWERS = {'JobInfo', 'JobError', 'JobOutput', 'NodeTiming', 'JobResult'}


def proto_lines(name):
    with open(os.path.join(ROOT, 'proto/weft/v1', name), encoding='utf-8') as file:
        return file.read().splitlines()


def comment_above(lines, start):
    comment, above = [], start - 1
    while above >= 0 and lines[above].strip().startswith('//'):
        text = lines[above].strip()
        comment.insert(0, text.lstrip('/ ').rstrip() if len(text) > 2 else '')
        above -= 1
    return comment


class Block:
    """`keyword name {` of a proto: its comment, the lines of its body, and the messages and enums within it."""

    def __init__(self, lines, start, prefix=''):
        match = re.match(r'\s*(message|enum) (\w+) \{', lines[start])
        self.keyword, self.name = match.group(1), prefix + match.group(2)
        self.comment, self.body, self.nested = comment_above(lines, start), [], []
        self.end = start
        if lines[start].rstrip().endswith('}'):
            return
        at, depth = start + 1, 1
        while True:
            if re.match(r'\s*(message|enum) \w+ \{', lines[at]):
                inner = Block(lines, at, f'{self.name}.')
                if inner.body:
                    self.nested.append(inner)
                while self.body and inner.comment and self.body[-1].strip().startswith('//'):
                    self.body.pop()  # the comment belongs to the block within
                at = inner.end + 1
                continue
            depth += lines[at].count('{') - lines[at].count('}')
            if depth == 0:
                break
            self.body.append(lines[at])
            at += 1
        self.end = at


def blocks(name):
    """The messages and enums of a proto, in its order."""
    lines = proto_lines(name)
    return [Block(lines, at) for at, line in enumerate(lines) if re.match(r'(message|enum) \w+ \{', line)]


def fields(body, pattern):
    """Rows (match, comment): a field's comment stands above it, behind it, or goes on below its end."""
    rows, pending, group = [], [], None
    for line in body:
        text = line.strip()
        if text.startswith('oneof '):
            group, pending = text.split()[1], []
        elif text == '}':
            group = None
        elif text.startswith('//'):
            word = text.lstrip('/ ')
            indent = len(line) - len(line.lstrip())
            if rows and indent > 8:
                rows[-1][1].append(word)
            else:
                pending.append(word)
        else:
            match = re.match(pattern, text)
            if match:
                behind = text.split('//', 1)[1].strip() if '//' in text else ''
                rows.append((match, pending + ([behind] if behind else []), group))
            pending = []
    return rows


def cell(text):
    return ' '.join(text).replace('|', '\\|')


def print_message(block):
    if block.comment:
        print('\n'.join(block.comment) + '\n')
    rows = fields(block.body, r'((?:repeated |optional )?[\w.]+) (\w+) = \d+;')
    if rows:
        print('| field | type | meaning |\n|---|---|---|')
        for match, about, group in rows:
            one_of = f' (one of *{group}*)' if group else ''
            print(f'| `{match.group(2)}` | {match.group(1)}{one_of} | {cell(about)} |')


def print_enum(block):
    if block.comment:
        text = '\n'.join(block.comment)
        print(f'```\n{text}\n```\n' if '→' in text else text + '\n')
    print('| value | meaning |\n|---|---|')
    for match, about, _ in fields(block.body, r'(\w+) = \d+;'):
        print(f'| `{match.group(1)}` | {cell(about)} |')


def print_block(block):
    print(f'\n### {block.name}\n')
    if block.keyword == 'message':
        print_message(block)
    else:
        print_enum(block)
    for inner in block.nested:
        print_block(inner)


def print_examples():
    """The shortest node of each kind among the demos. A kind without one is a kind that nobody tried."""
    jobs = os.path.join(ROOT, 'demos', 'jobs')
    examples = {}
    for file in sorted(os.listdir(jobs)):
        if not file.endswith('.textproto'):
            continue
        with open(os.path.join(jobs, file), encoding='utf-8') as text:
            for kind, example in demo_jobs.examples(text.read()):
                if kind not in examples or len(example) < len(examples[kind][0]):
                    examples[kind] = (example, file)
    node = next(block for block in blocks('job.proto') if block.name == 'Node')
    for match, _, group in fields(node.body, r'([\w.]+) (\w+) = \d+;'):
        if group != 'kind':
            continue
        if match.group(2) not in examples:
            raise SystemExit(f'make_job_format: no job in demos/jobs has a node of kind {match.group(2)}')
        example, file = examples[match.group(2)]
        print(f'\n**{match.group(2)}** ({match.group(1)}), from demos/jobs/{file}:\n\n```textproto\n{example}\n```')


def kind_of_argument(argument):
    if argument.get('is_buffer'):
        access = argument['access'].removeprefix('ACCESS_').lower().replace('_', '-')
        return f'buffer, {access}' + (', optional' if argument.get('optional') else '')
    return 'choice' if argument.get('choices') else 'scalar'


def types_of_argument(argument):
    if argument.get('choices'):
        return 'text'
    if argument.get('same_data_type_as'):
        return f'as `{argument["same_data_type_as"]}`'
    return ', '.join(t.removeprefix('DATA_TYPE_').lower() for t in argument.get('data_types', []))


def limits_of_argument(argument):
    if argument.get('choices'):
        return ', '.join(f'`{choice}`' for choice in argument['choices'])
    return ' to '.join(x for x in (argument.get('minimum', ''), argument.get('maximum', '')) if x)


def print_schemas(schemas):
    for schema in schemas:
        print(f'\n### {schema["name"]}\n\n{schema["summary"]}')
        if schema.get('description'):
            print('\n' + schema['description'])
        print('\n| argument | kind | types | default | limits | meaning |\n|---|---|---|---|---|---|')
        for argument in schema.get('arguments', []):
            print(f'| `{argument["name"]}` | {kind_of_argument(argument)} | {types_of_argument(argument)} | '
                  f'{argument.get("default_value", "")} | {limits_of_argument(argument)} | '
                  f'{argument.get("description", "").replace("|", chr(92) + "|")} |')


def print_kernels(build):
    out = subprocess.run([os.path.join(build, 'bin/weft'), 'kernels', '--json'], check=True, capture_output=True,
                         text=True).stdout
    schemas = json.loads(out)['kernels']
    print('\n## Built-in kernels\n\nThe same list comes from `weft kernels` and `weft kernels NAME`.')
    print_schemas(schema for schema in schemas if not schema.get('library'))
    print('\n## Calls of libraries\n\nThe same list comes from `weft kernels` and `weft kernels NAME`.')
    print_schemas(schema for schema in schemas if schema.get('library'))


def main():
    build = sys.argv[1]
    print('<!-- Written by scripts/make_job_format.py; edit docs/job-format.intro.md, the protos or the schemas. -->')
    with open(os.path.join(ROOT, 'docs/job-format.intro.md'), encoding='utf-8') as file:
        print(file.read().rstrip())
    print('\n## Kinds of node')
    print_examples()
    print('\n## Messages')
    for block in blocks('job.proto'):
        if block.name not in ANSWERS and block.keyword == 'message':
            print_block(block)
    print('\n## Enumerations')
    wanted = [block for block in blocks('job.proto') if block.keyword == 'enum']
    for block in wanted + [block for block in blocks('kernel.proto') if block.name in ('Access', 'DataType')]:
        print_block(block)
    print_kernels(build)


if __name__ == '__main__':
    main()
