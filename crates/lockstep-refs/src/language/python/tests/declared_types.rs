//! Types that are declared: of exceptions, of constructors, of variables.

use super::typed::check;

#[test]
fn raises_block_types_the_caught_exception() {
    let files = "\
=== errors.py
class Error(Exception):
    hint: int
    def __init__(self, hint: int) -> None:
        self.hint = hint
class Other(Exception):
    hint: int
=== test_pytest.py
import pytest
from errors import Error
def test_it():
    with pytest.raises(Error) as info:
        raise Error(hint=1)
    assert info.value.hint == 1
=== test_unit.py
from unittest import TestCase
from errors import Other
class T(TestCase):
    def test_it(self):
        with self.assertRaises(Other) as info:
            raise Other()
        assert info.exception.hint == 1
";
    check(
        files,
        &[
            (
                "errors.py",
                "    hint: int\n    def __init__(self, hint: int) -> None:\n        self.hint = hint",
                "    ...",
                &["test_pytest.py"],
            ),
            (
                "errors.py",
                "class Other(Exception):\n    hint",
                "class Other(Exception):\n    clue",
                &["test_unit.py"],
            ),
        ],
    );
}

#[test]
fn a_name_given_to_a_written_constructor_is_its_parameters() {
    let files = "\
=== events.py
from dataclasses import dataclass
@dataclass(init=False)
class Data:
    data: bytes
    def __init__(self, data: bytes) -> None: ...
@dataclass
class Plain:
    data: bytes
=== use.py
from events import Data
Data(data=b'1')
=== plain.py
from events import Plain
Plain(data=b'1')
";
    check(
        files,
        &[
            ("events.py", "    data: bytes\n    def", "    def", &[]),
            ("events.py", "class Plain:\n    data", "class Plain:\n    text", &["plain.py"]),
        ],
    );
}

#[test]
fn declared_type_survives_assignment() {
    let files = "\
=== kinds.py
class Tool:
    def run(self) -> None: ...
=== parameter.py
from kinds import Tool
def f(tool: Tool, make) -> None:
    tool = make()
    tool.run()
=== local.py
from kinds import Tool
def f(make) -> None:
    tool: Tool = make()
    tool = make(1)
    tool.run()
=== other.py
from kinds import Tool
def f(tool, make) -> None:
    tool = str(make)
    tool.run()
";
    check(files, &[("kinds.py", "run(self)", "run(self, extra)", &["local.py", "parameter.py"])]);
}
