#!/usr/bin/env python3
"""Writes docs/job-format.md from the protos' comments, the kernels' schemas and docs/job-format.intro.md.

  scripts/make_job_format.py BUILD > docs/job-format.md     BUILD: a build folder that has bin/weft
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MESSAGES = ['Job', 'BufferDecl', 'View', 'Node', 'KernelNode', 'Argument', 'LaunchShape', 'CopyNode', 'FillNode',
            'UploadNode', 'DownloadNode', 'EmptyNode', 'JobOptions']
ENUMS = [('job.proto', 'Ordering'), ('job.proto', 'JobState'), ('kernel.proto', 'DataType')]


def proto_lines(name):
    with open(os.path.join(ROOT, 'proto/weft/v1', name), encoding='utf-8') as file:
        return file.read().splitlines()


def block(lines, keyword, name):
    """(comment before it, lines of its body) of `keyword name {`; nested messages are left out."""
    for start, line in enumerate(lines):
        if re.match(rf'{keyword} {name} \{{', line):
            comment, above = [], start - 1
            while above >= 0 and lines[above].startswith('//'):
                comment.insert(0, lines[above].lstrip('/ ').rstrip() if len(lines[above]) > 2 else '')
                above -= 1
            if line.rstrip().endswith('}'):
                return comment, []
            body, depth = [], 1
            for inner in lines[start + 1:]:
                depth += inner.count('{') - inner.count('}')
                if depth == 0:
                    return comment, body
                body.append(inner)
    raise SystemExit(f'make_job_format: {keyword} {name} is not in the protos')


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


def print_message(name):
    comment, body = block(proto_lines('job.proto'), 'message', name)
    print(f'\n### {name}\n')
    if comment:
        print('\n'.join(comment) + '\n')
    rows = fields(body, r'((?:repeated )?[\w.]+) (\w+) = \d+;')
    if rows:
        print('| field | type | meaning |\n|---|---|---|')
        for match, about, group in rows:
            one_of = f' (one of *{group}*)' if group else ''
            print(f'| `{match.group(2)}` | {match.group(1)}{one_of} | {cell(about)} |')


def print_enum(file, name):
    comment, body = block(proto_lines(file), 'enum', name)
    print(f'\n### {name}\n')
    if comment:
        print('```\n' + '\n'.join(comment) + '\n```\n' if any('→' in c for c in comment) else '\n'.join(comment) + '\n')
    print('| value | meaning |\n|---|---|')
    for match, about, _ in fields(body, r'(\w+) = \d+;'):
        print(f'| `{match.group(1)}` | {cell(about)} |')


def print_kernels(build):
    out = subprocess.run([os.path.join(build, 'bin/weft'), 'kernels', '--json'], check=True, capture_output=True,
                         text=True).stdout
    data = json.loads(out)
    for kernel in data['kernels']:
        print(f'\n### {kernel["name"]}\n\n{kernel["summary"]}')
        if kernel.get('description'):
            print('\n' + kernel['description'])
        print('\n| argument | kind | types | default | limits | meaning |\n|---|---|---|---|---|---|')
        for argument in kernel.get('arguments', []):
            types = ', '.join(t.removeprefix('DATA_TYPE_').lower() for t in argument.get('data_types', []))
            if argument.get('same_data_type_as'):
                types = f'as `{argument["same_data_type_as"]}`'
            kind = 'scalar'
            if argument.get('is_buffer'):
                kind = 'buffer, ' + argument['access'].removeprefix('ACCESS_').lower().replace('_', '-')
            limits = ' to '.join(x for x in (argument.get('minimum', ''), argument.get('maximum', '')) if x)
            print(f'| `{argument["name"]}` | {kind} | {types} | {argument.get("default_value", "")} | {limits} | '
                  f'{argument.get("description", "").replace("|", chr(92) + "|")} |')


def main():
    build = sys.argv[1]
    print('<!-- Written by scripts/make_job_format.py; edit docs/job-format.intro.md, the protos or the schemas. -->')
    with open(os.path.join(ROOT, 'docs/job-format.intro.md'), encoding='utf-8') as file:
        print(file.read().rstrip())
    print('\n## Messages')
    for name in MESSAGES:
        print_message(name)
    print('\n## Enumerations')
    for file, name in ENUMS:
        print_enum(file, name)
    print('\n## Built-in kernels\n\nThe same list comes from `weft kernels` and `weft kernels NAME`.')
    print_kernels(build)


if __name__ == '__main__':
    main()
