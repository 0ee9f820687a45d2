//! Realistic cases: the files that a type checker rejects.

use crate::fixture::breaking;

/// A change in a file, and the files that it breaks.
type Case<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

pub(super) fn check(files: &str, cases: &[Case<'_>]) {
    for (path, from, to, expected) in cases {
        assert_eq!(breaking(files, path, from, to), *expected, "{from} → {to} in {path}");
    }
}

#[test]
fn a_constructor_is_called_through_classes_that_have_none() {
    let files = "\
=== lib/core.py
class Base:
    def __init__(self, name, size): ...
class Mid(Base):
    pass
=== lib/heir.py
from lib.core import Mid
class Heir(Mid):
    def go(self): ...
=== user.py
from lib.heir import Heir
Heir('a', 1)
=== kw.py
from lib.heir import Heir
Heir(name='a', size=1)
=== sup.py
from lib.core import Mid
class Own(Mid):
    def __init__(self):
        super().__init__('a', 1)
=== none.py
from lib.heir import Heir
def f(h: Heir): return h.go()
";
    check(files, &[("lib/core.py", "name, size", "name, size, more", &["kw.py", "sup.py", "user.py"])]);
}

#[test]
fn the_fields_of_a_dataclass_are_given_by_name_and_by_place() {
    let files = "\
=== model.py
from dataclasses import dataclass, field
@dataclass
class Point:
    x: int
    y: int = 0
    tags: list = field(default_factory=list)
@dataclass
class Deep(Point):
    z: int = 0
=== kw.py
from model import Point
p = Point(x=1, y=2)
=== pos.py
from model import Point
p = Point(1, 2, [])
=== one.py
from model import Point
p = Point(1)
=== attr.py
from model import Point
def f(p: Point): return p.y
=== heir.py
from model import Deep
d = Deep(x=1, z=2)
";
    check(
        files,
        &[
            ("model.py", "y: int", "height: int", &["attr.py", "kw.py"]),
            ("model.py", "x: int", "left: int", &["heir.py", "kw.py"]),
            ("model.py", "    y: int = 0\n", "", &["attr.py", "kw.py", "pos.py"]),
        ],
    );
}

#[test]
fn named_tuples_have_fields_however_they_are_made() {
    let files = "\
=== model.py
from typing import NamedTuple
from collections import namedtuple
import enum
class Pair(NamedTuple):
    left: int
    right: int = 0
Old = namedtuple('Old', ['a', 'b'])
Words = namedtuple('Words', 'c d')
class Own(namedtuple('Own', 'e f')):
    def g(self): ...
Typed = NamedTuple('Typed', [('at', int), ('pair', Pair)])
Color = enum.Enum('Color', 'RED GREEN')
=== kw.py
from model import Pair
Pair(left=1, right=2)
=== attr.py
from model import Pair
def f(p: Pair): return p.right
=== old.py
from model import Old
Old(1, 2).b
=== words.py
from model import Words
Words(c=1, d=2).d
=== own.py
from model import Own
def h(o: Own): return o.f
=== pos.py
from model import Pair, Old
Pair(1, 2)
Old(1, 2)
=== typed.py
from model import Typed
def f(t: Typed): return t.pair.left
=== color.py
import model
model.Color.GREEN
";
    check(
        files,
        &[
            ("model.py", "right: int", "second: int", &["attr.py", "kw.py"]),
            ("model.py", "left: int", "first: int", &["kw.py", "typed.py"]),
            ("model.py", "'b'", "'bb'", &["old.py"]),
            ("model.py", "c d", "c dd", &["words.py"]),
            ("model.py", "e f", "e ff", &["own.py"]),
            ("model.py", "'pair'", "'both'", &["typed.py"]),
            ("model.py", "GREEN", "BLUE", &["color.py"]),
            ("model.py", ", 'b'", "", &["old.py", "pos.py"]),
            ("model.py", "'b'", "'b', 'bb'", &["old.py", "pos.py"]),
            ("model.py", "left: int", "left: int\n    mid: int", &["kw.py", "pos.py"]),
        ],
    );
}

#[test]
fn inherited_members_are_used_through_self() {
    let files = "\
=== lib/__init__.py
=== lib/base.py
class Base:
    kind = 'x'
    def __init__(self):
        self.state = {}
    def run(self, n): ...
    @property
    def name(self): return 'n'
    @classmethod
    def make(cls, n): return cls()
    @staticmethod
    def help(n): ...
=== lib/heir.py
from .base import Base
class Heir(Base):
    def go(self):
        self.run(1)
=== lib/prop.py
from .base import Base
class P(Base):
    def go(self):
        return self.name.upper()
=== lib/cls.py
from .base import Base
class C(Base):
    def go(self):
        type(self).make(2)
    @classmethod
    def other(cls):
        return cls.make(3)
=== lib/attr.py
from .base import Base
class A(Base):
    def go(self):
        return self.kind, self.state
=== lib/stat.py
from .heir import Heir
Heir.help(1)
=== lib/sup.py
from .base import Base
class S(Base):
    def run(self, n):
        return super().run(n)
=== lib/made.py
from .heir import Heir
Heir.make(1).run(2)
";
    check(
        files,
        &[
            ("lib/base.py", "run", "start", &["lib/heir.py", "lib/made.py", "lib/sup.py"]),
            ("lib/base.py", "def name", "def title", &["lib/prop.py"]),
            ("lib/base.py", "make", "build", &["lib/cls.py", "lib/made.py"]),
            ("lib/base.py", "help", "aid", &["lib/stat.py"]),
            ("lib/base.py", "kind", "sort", &["lib/attr.py"]),
            ("lib/base.py", "state", "status", &["lib/attr.py"]),
        ],
    );
}

#[test]
fn types_come_from_annotations_casts_and_conditions() {
    let files = "\
=== lib/__init__.py
=== lib/model.py
class Model:
    def save(self): ...
=== lib/a.py
from __future__ import annotations
import typing as t
if t.TYPE_CHECKING:
    from .model import Model
def f(m: Model):
    m.save()
=== lib/b.py
import typing as t
if t.TYPE_CHECKING:
    from . import model
def f(ms: t.Iterable['model.Model']):
    for one in ms:
        one.save()
=== lib/c.py
def f():
    from .model import Model
    return Model()
def g():
    f().save()
=== lib/d.py
import typing as t
from .model import Model
ModelT = t.TypeVar('ModelT', bound=Model)
def f(m: ModelT) -> ModelT:
    m.save()
    return m
=== lib/e.py
import typing as t
from .model import Model
x = t.cast('Model', object())
x.save()
=== lib/f.py
from typing import cast
from . import model
cast(model.Model, object()).save()
=== lib/g.py
from .model import Model
def f(x):
    assert isinstance(x, Model)
    return x.save()
=== lib/h.py
from contextlib import contextmanager
from .model import Model
@contextmanager
def opened():
    yield Model()
with opened() as m:
    m.save()
";
    let all = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| format!("lib/{name}.py"));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    check(
        files,
        &[("lib/model.py", "class Model", "class Table", &all), ("lib/model.py", "save", "store", &all)],
    );
}

#[test]
fn indirect_importers_of_a_removed_name_break() {
    let files = "\
=== lib/__init__.py
from .model import Model, load
__all__ = [\"Model\", \"load\"]
=== lib/model.py
class Model: ...
def load(): ...
=== named.py
from lib import load
=== twice.py
from named import load
=== reached.py
import lib
lib.load()
=== starred.py
from lib import *
load()
=== other.py
from lib import Model
";
    let missing: &[&str] = &["lib/__init__.py", "named.py", "twice.py"];
    check(
        files,
        &[("lib/model.py", "def load(): ...", "", missing), ("lib/model.py", "load", "read", missing)],
    );
    // A module may create missing names.
    let files = files.replace("__all__", "def __getattr__(name): ...\n__all__");
    check(&files, &[("lib/model.py", "load", "read", &["lib/__init__.py"])]);
}

#[test]
fn stale_all_entry_breaks_imports_by_name() {
    let files = "\
=== lib/__init__.py
from .model import *
=== lib/model.py
__all__ = [\"load\"]
def load(): ...
=== named.py
from lib import load
=== reached.py
import lib
lib.load()
";
    check(files, &[("lib/model.py", "def load(): ...", "", &["named.py"])]);
}

#[test]
fn a_decorator_is_called_with_what_it_is_put_before() {
    let files = "\
=== deco.py
from typing import Any, Callable
def hook(fn: Callable[..., Any] | None = None, *, many: bool = False) -> Callable[..., Any]: ...
def names(*all: str) -> Callable[..., Any]: ...
def plain(fn): ...
=== bare.py
from deco import hook
@hook
def f(): ...
=== given.py
from deco import hook
@hook(many=True)
def f(): ...
=== called.py
from deco import names
@names(\"a\")
def f(): ...
=== plain.py
import deco
@deco.plain
def f(): ...
";
    check(
        files,
        &[
            ("deco.py", "many: bool = False)", "many: bool = False, once: bool = False)", &[]),
            ("deco.py", "names(", "names(extra, ", &[]),
            ("deco.py", "plain(fn", "plain(extra, fn", &["plain.py"]),
            ("deco.py", "plain(fn", "plain(fn, extra=None", &[]),
        ],
    );
}

#[test]
fn argument_of_a_removed_parameter_shifts_to_the_next() {
    let files = "\
=== kinds.py
from dataclasses import dataclass
@dataclass
class Note:
    value: object
    version: str
    issue: int
    instead: object = None
def f(a: str, b: int, c: object = None) -> None: ...
=== use.py
from kinds import Note, f
Note('a', '1', issue=2)
f('a', 1)
=== by_module.py
import kinds
kinds.Note('a', '1', issue=2)
";
    check(
        files,
        &[
            ("kinds.py", "    version: str\n", "", &["by_module.py", "use.py"]),
            ("kinds.py", "b: int, ", "", &["use.py"]),
            ("kinds.py", "b: int,", "b: int = 1,", &[]),
            ("kinds.py", ", c: object = None", "", &[]),
        ],
    );
}

#[test]
fn changed_overload_breaks_only_calls_of_that_overload() {
    let files = "\
=== app.py
from typing import Literal, overload
class App:
    name: str
@overload
def find(name: str, raises: Literal[True] = True) -> App: ...
@overload
def find(name: str, raises: Literal[False] = ...) -> App | None: ...
def find(name: str, raises: bool = True) -> App | None: ...
=== use.py
from app import find
find('a').name
";
    let first = "find(name: str, raises: Literal[True]";
    check(files, &[("app.py", first, "find(name: str, extra: int, raises: Literal[True]", &["use.py"])]);
    check(files, &[("app.py", first, "find(name: str, extra: int = 1, raises: Literal[True]", &[])]);
    let second = "find(name: str, raises: Literal[False]";
    check(files, &[("app.py", second, "find(name: str, extra: int, raises: Literal[False]", &[])]);
}

#[test]
fn untyped_argument_only_needs_to_exist() {
    let files = "\
=== lib.py
def metric(value: float) -> str: ...
=== test_speed.py
import lib
def test_it(benchmark) -> None:
    benchmark(lib.metric, 1500)
=== typed.py
from typing import Callable
import lib
def run(of: Callable[[float], str]) -> None: ...
run(lib.metric)
";
    check(
        files,
        &[
            ("lib.py", "value: float", "value: float, unit: str", &["typed.py"]),
            ("lib.py", "metric", "measure", &["test_speed.py", "typed.py"]),
        ],
    );
}
