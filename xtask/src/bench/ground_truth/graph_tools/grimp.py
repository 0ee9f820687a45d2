"""Prints which files import which, as grimp knows it: {"a/b.py": ["a/c.py", …]}, each with those that import it.

usage: python grimp.py PACKAGE_FOLDER
"""

import json
import os
import sys


import grimp

root = sys.argv[1]
bases = [base for base in (os.path.join(root, "src"), root) if os.path.isdir(base)]
where = {}
for base in bases:
    for name in sorted(os.listdir(base)):
        if os.path.isfile(os.path.join(base, name, "__init__.py")):
            where.setdefault(name, base)
sys.path[:0] = bases
graph = grimp.build_graph(*where, cache_dir=None)


def file_of(module):
    path = os.path.join(where[module.split(".")[0]], *module.split("."))
    for candidate in (path + ".py", os.path.join(path, "__init__.py")):
        if os.path.isfile(candidate):
            return os.path.relpath(candidate, root)
    return None


importers = {}
for module in graph.modules:
    path = file_of(module)
    if path:
        files = {file_of(other) for other in graph.find_modules_that_directly_import(module)}
        importers[path] = sorted(files - {None, path})
print(json.dumps(importers))
