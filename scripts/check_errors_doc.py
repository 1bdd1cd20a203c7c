#!/usr/bin/env python3
"""Every function of every errors.h has its section in docs/errors.md, and every section its function."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    headers = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '*errors.h'], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout.split()
    functions = {}
    for header in headers:
        with open(os.path.join(ROOT, header), encoding='utf-8') as file:
            text = re.sub(r'//.*', '', file.read())
        for name in re.findall(r'^(?:absl::Status|FieldViolation)\s+(\w+)\s*\(', text, re.M):
            functions[name] = header
    with open(os.path.join(ROOT, 'docs/errors.md'), encoding='utf-8') as file:
        sections = set(re.findall(r'^### (\w+)$', file.read(), re.M))
    findings = [f'docs/errors.md: no section for {name} of {functions[name]}' for name in sorted(functions.keys() - sections)]
    findings += [f'docs/errors.md: section {name} has no function' for name in sorted(sections - functions.keys())]
    print('\n'.join(findings + [f'check_errors_doc: {len(functions)} functions, {len(findings)} findings']))
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
