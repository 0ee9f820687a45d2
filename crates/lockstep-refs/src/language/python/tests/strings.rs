//! Names in strings, which checkers do not follow: they break if a call looks them up, and are only reported otherwise.

use crate::fixture::{breaking, dependents, outgoing, referrers};

const FILES: &str = "\
=== pkg/__init__.py
=== pkg/mod.py
def greet(): ...
class Thing:
    def run(self): ...
=== pkg/user.py
from pkg.mod import greet
greet()
=== load.py
import importlib
mod = importlib.import_module('pkg.mod')
other = importlib.import_module('.mod', package='pkg')
third = importlib.import_module('.mod', 'pkg')
top = __import__('pkg')
=== test_mod.py
from unittest import mock
import pkg.mod
@mock.patch('pkg.mod.greet')
def test_one(fake): ...
def test_two(monkeypatch, mocker):
    monkeypatch.setattr('pkg.mod.Thing.run', lambda self: 1)
    monkeypatch.setattr(pkg.mod, 'greet', lambda: 1)
    mocker.patch.object(pkg.mod.Thing, 'run')
    mock.patch('pkg.user.greet')
    mock.patch('pkg.gone.greet')
    mock.patch('os.path.greet')
=== settings.py
APP = 'pkg.mod:greet'
TEXT = 'see pkg.mod.greet'
FILE = 'greet.py'
";

#[test]
fn strings_name_modules_and_what_is_in_them() {
    assert_eq!(
        referrers(FILES, "pkg/mod.py", "greet"),
        [
            "pkg/user.py:1 Import",
            "pkg/user.py:2 Call(0)",
            "settings.py:1 Quoted~",
            "test_mod.py:3 Quoted(1)?",
            "test_mod.py:7 Quoted(3)?",
            "test_mod.py:9 Quoted(1)? via pkg/user.py",
        ]
    );
    assert_eq!(
        referrers(FILES, "pkg/mod.py", "Thing.run"),
        ["test_mod.py:6 Quoted(2)?", "test_mod.py:8 Quoted(2)?"]
    );
    let (references, unresolved, _) = outgoing(FILES, "load.py");
    assert_eq!(references, ["pkg/__init__.py:5", "pkg/mod.py:2", "pkg/mod.py:3", "pkg/mod.py:4"]);
    assert_eq!(unresolved, [""; 0]);
}

#[test]
fn renamed_function_breaks_lookups_by_name_but_not_other_strings() {
    assert_eq!(breaking(FILES, "pkg/mod.py", "greet", "welcome"), ["pkg/user.py", "test_mod.py"]);
    assert_eq!(
        dependents(FILES, "pkg/mod.py", "greet", "welcome"),
        ["pkg/user.py", "settings.py", "test_mod.py"]
    );
}
