#!/usr/bin/env python3
"""Writes docs/cli.md: what `weft --help` and `weft COMMAND --help` print, as one page.

  scripts/make_cli_doc.py BUILD > docs/cli.md     BUILD: a build folder that has bin/weft
"""
import os
import subprocess
import sys


def main():
    weft = os.path.join(sys.argv[1], 'bin/weft')
    sys.stdout.write(subprocess.run([weft, 'help', '--markdown'], check=True, capture_output=True, text=True).stdout)


if __name__ == '__main__':
    main()
