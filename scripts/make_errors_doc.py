#!/usr/bin/env python3
"""Writes docs/errors.md from the errors.h and errors.cc files: every error with its code, its text and when it comes.

  scripts/make_errors_doc.py > docs/errors.md

The texts are those of the code; ‹…› stands for a value. A function whose text is put together in several ways says in its
first comment, `// Reads: TEXT`, what a user sees. Causes come from the comments of the functions and of their
groups, so that a new error without a word about it is seen in review.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = [
    ('graph/ir', 'The job file and the job', 'Found when a job is read and validated, before anything runs. Over gRPC: '
     'INVALID_ARGUMENT with a google.rpc.BadRequest field violation each; `weft` prints all of them and ends with 2.'),
    ('graph/plan', 'Planning', 'Found when a valid job is planned.'),
    ('kernels/compile', 'Code that a job brings along', 'Found when the executor compiles and loads it; the error of the '
     'job. A kernel that does not compile comes back with the compiler\'s own lines.'),
    ('graph/build', 'Launching kernels of a job', 'Found when the compiled module is held against what the job says; the '
     'error of the job.'),
    ('client/cli', 'The command line', 'Made by `weft` itself: files, options, programs that it starts.'),
    ('client', 'The client library', 'Made by the client; the errors of the server pass through it as they are.'),
    ('server/daemon', 'The server', 'Made by weftd.'),
    ('server/executor', 'Running', 'Made by weft-executor. Those of launches become the error of a job; the others are '
     'seen by weftd alone and would be a bug of one of the two programs.'),
]
CODES = {'InvalidArgument': 'INVALID_ARGUMENT', 'NotFound': 'NOT_FOUND', 'AlreadyExists': 'ALREADY_EXISTS',
         'FailedPrecondition': 'FAILED_PRECONDITION', 'ResourceExhausted': 'RESOURCE_EXHAUSTED',
         'PermissionDenied': 'PERMISSION_DENIED', 'Unavailable': 'UNAVAILABLE', 'Aborted': 'ABORTED',
         'DeadlineExceeded': 'DEADLINE_EXCEEDED', 'DataLoss': 'DATA_LOSS', 'Internal': 'INTERNAL',
         'Cancelled': 'CANCELLED', 'Unimplemented': 'UNIMPLEMENTED', 'OutOfRange': 'OUT_OF_RANGE'}
DECLARATION = re.compile(r'^(absl::Status|FieldViolation)\s+(\w+)\s*\(')


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def sources(folder):
    """The files that hold a folder's errors."""
    return sorted(f'{folder}/{name}' for name in os.listdir(os.path.join(ROOT, folder)) if name.endswith('errors.cc'))


def declared(header):
    """Rows (group, comment, type, name) of a header, in order."""
    rows, comment, group = [], [], ''
    for line in read(header).splitlines():
        if line.startswith('// ----'):
            group, comment = line.strip('/- '), []
        elif line.startswith('//'):
            comment.append(line.lstrip('/ '))
        elif match := DECLARATION.match(line):
            rows.append((group, ' '.join(comment), match.group(1), match.group(2)))
            comment = []
        elif not line.strip():
            if comment and rows and len(comment) == 1 and comment[0].endswith('.') and len(comment[0]) < 60:
                group = comment[0].rstrip('.')
            comment = []
        elif not line.startswith(' '):
            comment = []
    return rows


def body_of(source, name):
    match = re.search(rf'^\s*(?:absl::Status|FieldViolation)\s+{name}\s*\([^{{;]*\)\s*\{{', source, re.M)
    if not match:
        return ''
    depth, end = 1, match.end()
    in_string = False
    while depth and end < len(source):
        char = source[end]
        if char == '"' and source[end - 1] != '\\':
            in_string = not in_string
        elif not in_string:
            depth += {'{': 1, '}': -1}.get(char, 0)
        end += 1
    return source[match.end():end - 1]


PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"|([A-Za-z_][\w.]*(?:::\w+)*)\s*(\(?)')
SILENT = {'absl', 'StrCat', 'std', 'move', 'return', 'string', 'Quote', 'CHexEscape', 'field', 'Field', 'size', 'const',
          'auto', 'uint64_t', 'empty', 'text', 'static_cast', 'status', 'Status', 'if', 'node', 'part', 'for'}


STATED = re.compile(r'\A\s*// Reads: (.*(?:\n\s*// .*)*)')
LAMBDA = re.compile(r'\bauto \w+ = \[.*?\n  \};', re.S)
# The name of a field before the message.
FIELD_NAME = re.compile(r'^(nodes|options)?[\w\[\].]*$')


def text_of(body):
    """The message of a function's last return, values as ‹names›."""
    if stated := STATED.match(body):
        return re.sub(r'\s*\n\s*// ', ' ', stated.group(1))
    body = LAMBDA.sub('', body)
    if re.search(r'FieldError\([^"]*\?', body):  # one of two fields; the message follows
        body = 'return ' + body[body.index('StrCat('):]
    start = body.rfind('return')
    if body.count('return') > 1 and len(body) < 900:
        start = body.find('return')
    # Quoted values read as such.
    text = re.sub(r'Quote\((?:\w+[.:]+)*(\w+)\)', lambda m: '"\u2039%s\u203a"' % m.group(1).replace('_', ' '), body[start:])
    pieces = []
    for literal, word, call in PIECE.findall(text):
        if literal or not word:
            text = literal.replace('\\"', '"').replace('\\\\', '\\')
            if text.startswith(']') and FIELD_NAME.match(text):
                pieces.pop()  # the index in the field's name
            elif text and (pieces or not FIELD_NAME.match(text)):
                pieces.append(text)
        else:
            name = word.split('::')[-1].split('.')[-1]
            if call or name in SILENT or name.endswith('Error'):
                continue
            if re.match('k[A-Z]', name):  # a constant
                name = re.sub('(?<!^)([A-Z])', r' \1', name[1:]).lower()
            pieces.append(f'‹{name.replace("_", " ")}›')
    text = ''.join(pieces)
    return re.sub(r'(‹[^›]*›)(?=‹)', r'\1 ', re.sub(r'\s+', ' ', text)).strip()


def code_of(body, kind):
    match = re.search(r'absl::(\w+)Error\(', body)
    if match and match.group(1) in CODES:
        return CODES[match.group(1)]
    return 'INVALID_ARGUMENT' if kind == 'FieldViolation' or 'FieldError' in body else ''


def main():
    print('<!-- Written by scripts/make_errors_doc.py from the errors.h and errors.cc files. -->')
    print('# Errors\n\nEvery error that a user can see, by the part that makes it. Each text says what is wrong, with the '
          'value and the limit,\nand what to do. ‹…› stands for a value.')
    seen = set()
    for folder, title, about in FOLDERS:
        print(f'\n## {title}\n\n{about}')
        source = ''.join(read(path) for path in sources(folder))
        for _, comment, kind, name in declared(f'{folder}/errors.h'):
            if name in seen:
                continue
            seen.add(name)
            body = body_of(source, name)
            code = code_of(body, kind)
            print(f'\n### {name}\n')
            if comment:
                print(comment + '\n')
            print((f'`{code}`: ' if code else '') + (text_of(body) or '(the cause, with what was being done)'))
    return 0


if __name__ == '__main__':
    sys.exit(main())
