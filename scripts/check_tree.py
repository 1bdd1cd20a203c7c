#!/usr/bin/env python3
"""Holds the shape of the tree: arrows between folders, unbuilt files, sizes, names, open ends, headers alone.

  scripts/check_tree.py                    what needs no build
  scripts/check_tree.py --headers BUILD    also compiles every header by itself, with the flags of build folder BUILD

Exit status 0 when everything holds; otherwise one line a finding, and 1.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Which folder may include which (docs/architecture.md has the same table and why). A folder may always include itself.
ALLOWED = {
    'base': [],
    'proto': [],
    'cuda': ['base'],
    'cuda/host': ['base', 'cuda'],
    'transport': ['base'],
    'kernels': ['base', 'cuda', 'cuda/host/image_abi.h', 'cuda/host/texture_abi.h'],
    'graph/ir': ['base', 'proto', 'kernels', 'cuda/device_info.h'],
    'graph/plan': ['base', 'proto', 'kernels', 'graph/ir', 'cuda/device_info.h'],
    'graph/build': ['base', 'cuda', 'kernels', 'graph/ir', 'graph/plan'],
    'server/daemon': ['base', 'proto', 'transport', 'kernels', 'graph/ir', 'graph/plan', 'cuda/device_info.h'],
    'server/executor': ['base', 'proto', 'transport', 'cuda', 'kernels', 'graph/ir', 'graph/plan', 'graph/build'],
    'client': ['base', 'proto', 'transport'],
    'client/cli': ['base', 'proto', 'kernels', 'graph/ir', 'graph/plan', 'client', 'cuda/device_info.h'],
}
# Of kernels/, these folders may only see the schemas, which know nothing of CUDA.
SCHEMA_ONLY = {'graph/ir', 'graph/plan', 'server/daemon', 'client/cli'}
SCHEMA_TARGET = 'weft_kernel_schema'
# But this one also sees the compilers: `weft kernel` compiles and explains code on the user's own machine.
ALSO_OF_KERNELS = {'client/cli': 'kernels/compile/'}
FORBIDDEN_NAMES = {'util', 'utils', 'common', 'helper', 'helpers', 'misc'}
MAX_LINES = 600
SOURCE_ENDS = ('.h', '.cc', '.cu', '.cuh')


def tracked_files():
    out = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout
    return [f for f in out.splitlines() if os.path.exists(os.path.join(ROOT, f))]


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def folder_of(path):
    """The row of ALLOWED that `path` belongs to: the longest one that is a prefix."""
    rows = [row for row in ALLOWED if path.startswith(row + '/')]
    return max(rows, key=len) if rows else None


def read_targets(files):
    """{target: (files, deps)} as the CMakeLists.txt files declare them."""
    targets = {}
    call = re.compile(r'(weft_library|weft_program|weft_test)\s*\(([^()]*)\)', re.S)
    for path in files:
        if not path.endswith('CMakeLists.txt'):
            continue
        folder = os.path.dirname(path)
        text = re.sub(r'#.*', '', read(path))
        for match in call.finditer(text):
            words = match.group(2).split()
            if not words:
                continue
            section, sections = None, {}
            for word in words[1:]:
                if word in ('HDRS', 'SRCS', 'DEPS', 'SYSTEM_DEPS', 'LABELS', 'ENVIRONMENT', 'TIMEOUT', 'SHARED',
                            'INTERFACE', 'WHOLE', 'INSTALL'):
                    section = word
                else:
                    sections.setdefault(section, []).append(word)
            names = sections.get('HDRS', []) + sections.get('SRCS', [])
            targets[words[0]] = ([os.path.normpath(os.path.join(folder, n)) for n in names],
                                 sections.get('DEPS', []))
    return targets


def closure(targets, name):
    seen, todo = set(), [name]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(targets.get(current, ([], []))[1])
    return seen


def check_arrows(files, targets):
    findings = []
    target_of = {}
    for name, (names, _) in targets.items():
        for file in names:
            target_of.setdefault(file, name)
    schema_files = set(targets.get(SCHEMA_TARGET, ([], []))[0])
    include = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
    for path in files:
        row = folder_of(path)
        if not path.endswith(SOURCE_ENDS):
            continue
        for kind, name in include.findall(read(path)):
            if kind == '<' and re.match(r'(cuda|nvrtc|cublas|cufft|cusparse|cusolver|curand|cudnn)\w*\.h$', name):
                if row and not row.startswith('cuda') and not path.endswith(('.cu', '.cuh')):
                    findings.append(f'{path}: only cuda/ includes <{name}>')
            if kind != '"' or row is None:
                continue
            other = folder_of(name)
            if other is None and re.match(r'(weft|google/rpc)/.*\.pb\.h$', name):
                other = 'proto'
            if other is None or other == row:
                continue
            allowed = any(entry == name or (entry == other) for entry in ALLOWED[row])
            if not allowed:
                findings.append(f'{path}: includes "{name}"; {row} may include: {", ".join(ALLOWED[row]) or "nothing"}')
            elif (other == 'kernels' and row in SCHEMA_ONLY and name not in schema_files
                  and not name.startswith(ALSO_OF_KERNELS.get(row, '\0'))):
                findings.append(f'{path}: includes "{name}"; of kernels/ it may include only {SCHEMA_TARGET}')
            mine, theirs = target_of.get(path), target_of.get(name)
            if mine and theirs and not name.endswith('.inc') and theirs not in closure(targets, mine):
                findings.append(f'{path}: includes "{name}" of {theirs}, which {mine} does not declare in DEPS')
    return findings


def check_built(files, targets):
    built = {file for names, _ in targets.values() for file in names}
    findings = []
    cmake_text = '\n'.join(read(f) for f in files if f.endswith(('CMakeLists.txt', '.cmake')))
    for path in files:
        if path.endswith(('.cc', '.h')) and path not in built:
            # A list may name stems ("axpy" for axpy.schema.cc) in a loop.
            stem = re.escape(os.path.basename(path).split('.')[0])
            named = os.path.basename(path) in cmake_text or (
                path.startswith('kernels/builtin/') and re.search(rf'\b{stem}\b', cmake_text))
            if not named and not path.startswith('client/example/'):
                findings.append(f'{path}: no CMakeLists.txt names it, so it is never built')
    return findings


def check_sizes_and_words(files):
    findings = []
    for path in files:
        parts = re.split(r'[/_.]', path)
        if path.endswith(SOURCE_ENDS + ('.py', '.sh')):
            bad = FORBIDDEN_NAMES.intersection(parts)
            if bad:
                findings.append(f'{path}: "{bad.pop()}" says nothing; name what it does')
            text = read(path)
            lines = text.count('\n')
            if lines > MAX_LINES and 'size-exception:' not in text:
                findings.append(f'{path}: {lines} lines, the limit is {MAX_LINES}; split it')
            if path != 'scripts/check_tree.py':
                for number, line in enumerate(text.splitlines(), 1):
                    if re.search(r'\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))', line):
                        findings.append(f'{path}:{number}: an open end needs an issue: TODO(#number)')
                    if re.search(r'\bDISABLED_\w+', line) and not re.search(r'#\d+', line):
                        findings.append(f'{path}:{number}: a disabled test needs an issue number')
            if path.endswith(('.h', '.cuh')) and '#pragma once' not in text:
                findings.append(f'{path}: no #pragma once')
    for row in ALLOWED:
        readme = f'{row}/README.md'
        if os.path.isdir(os.path.join(ROOT, row)) and row != 'cuda/host':
            if readme not in files:
                findings.append(f'{readme}: missing; say in at most 20 lines what the folder does and may include')
            elif read(readme).count('\n') > 20:
                findings.append(f'{readme}: over 20 lines')
    return findings


def check_protos(files):
    """The usual style rules: versioned package that matches the folder, zero values, case, units in names."""
    findings = []
    for path in files:
        if not path.endswith('.proto') or path.startswith(('proto/google/', 'proto/grpc/')) or not path.startswith('proto/'):
            continue
        text = re.sub(r'//.*', '', read(path))
        package = re.search(r'^package ([\w.]+);', text, re.M)
        wanted = os.path.dirname(path)[len('proto/'):].replace('/', '.')
        if not package or package.group(1) != wanted or not re.search(r'\.v\d+$', wanted):
            findings.append(f'{path}: the package must be {wanted} and end in a version')
        for name, body in re.findall(r'\benum (\w+) \{([^}]*)\}', text):
            prefix = re.sub(r'(?<!^)(?=[A-Z])', '_', name).upper()
            values = re.findall(r'(\w+)\s*=\s*(\d+)', body)
            if not values or values[0] != (f'{prefix}_UNSPECIFIED', '0'):
                findings.append(f'{path}: enum {name}: its first value must be {prefix}_UNSPECIFIED = 0')
            findings += [f'{path}: enum value {value} must start with {prefix}_'
                         for value, _ in values if not value.startswith(prefix + '_')]
        for kind, name in re.findall(r'^\s*(?:repeated |optional )?([\w.]+) (\w+) = \d+;', text, re.M):
            if not re.match(r'[a-z][a-z0-9]*(_[a-z0-9]+)*$', name):
                findings.append(f'{path}: field {name} must be lower_snake_case')
            if re.search(r'(^|_)(timeout|deadline|duration|elapsed|grace|uptime)$', name) and kind.startswith(('u', 'i')):
                findings.append(f'{path}: field {name} needs its unit in its name')
            if re.search(r'(^|_)(size|memory|offset)$', name) and kind.startswith(('u', 'i')) and \
                    name not in ('page_size', 'warp_size'):  # counts, as the field names them
                findings.append(f'{path}: field {name} needs its unit in its name')
        for name in re.findall(r'^\s*rpc (\w+)', text, re.M):
            if not re.match(r'[A-Z][A-Za-z0-9]*$', name):
                findings.append(f'{path}: rpc {name} must be PascalCase')
    return findings


def check_headers(build, files):
    """Every header compiles by itself, without precompiled headers."""
    # By folder, as unity builds compile generated files: the include paths and definitions of all its targets.
    flags, compiler = {}, None
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        for entry in json.load(file):
            words = shlex.split(entry['command'])
            compiler = compiler or next((w for w in words if re.search(r'(\+\+|c\+\+-\d+)$', w)), None)
            name = os.path.relpath(entry['file'], ROOT)
            if name.startswith(os.path.relpath(build, ROOT) + '/'):
                name = os.path.relpath(entry['file'], build).split('/CMakeFiles/')[0] + '/'
            keep = flags.setdefault(os.path.dirname(name), [])
            for index, word in enumerate(words):
                if word in ('-isystem', '-I'):
                    word += words[index + 1]
                if word.startswith(('-I', '-isystem', '-D', '-std', '-f')) and len(word) > 2 and word != '-isystem':
                    keep += [word] if word not in keep else []
    headers = [f for f in files if f.endswith('.h') and folder_of(f)]

    def flags_of(folder):
        """Those of the folder, or of the nearest one above it that compiles something."""
        while folder and folder not in flags:
            folder = os.path.dirname(folder)
        return flags.get(folder, [])

    def compile_one(path):
        run = subprocess.run([compiler, *flags_of(os.path.dirname(path)), '-fsyntax-only', '-x', 'c++', '-w',
                              '-Wno-pragma-once-outside-header', os.path.join(ROOT, path)],
                             capture_output=True, text=True, cwd=build, check=False)
        return None if run.returncode == 0 else f'{path}: does not compile by itself:\n{run.stderr[:600]}'

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [finding for finding in pool.map(compile_one, headers) if finding]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--headers', metavar='BUILD', help='a configured build folder with compile_commands.json')
    arguments = parser.parse_args()
    files = tracked_files()
    targets = read_targets(files)
    findings = (check_arrows(files, targets) + check_built(files, targets) + check_sizes_and_words(files) +
                check_protos(files))
    if arguments.headers:
        findings += check_headers(arguments.headers, files)
    for finding in findings:
        print(finding)
    print(f'check_tree: {len(files)} files, {len(targets)} targets, {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
