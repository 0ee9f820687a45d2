//! Python in small projects of several files: resolved and unresolved references, and effects of changes.

mod declared_types;
mod inferred;
mod strings;
mod typed;

use crate::facts::{Arity, DefinitionKind};
use crate::fixture::{outgoing, referrers};
use crate::language::facts;

#[test]
fn names_are_followed_through_imports_and_aliases() {
    let files = "\
=== pkg/__init__.py
from .a import greet
=== pkg/a.py
def greet(name): ...
=== pkg/b.py
from .a import greet as hello
hello('x')
=== pkg/c.py
from . import a
import pkg.a
a.greet(1, 2)
pkg.a.greet(*args)
=== user.py
import pkg
from pkg import greet
pkg.greet(1)
greet(1)
=== other.py
def greet(): ...
greet()
";
    assert_eq!(
        referrers(files, "pkg/a.py", "greet"),
        [
            "pkg/__init__.py:1 Reexport",
            "pkg/b.py:1 Import",
            "pkg/b.py:2 Call(1)",
            "pkg/c.py:3 Call(2)",
            "pkg/c.py:4 Call",
            "user.py:2 Import via pkg/__init__.py",
            "user.py:3 Call(1) via pkg/__init__.py",
            "user.py:4 Call(1) via pkg/__init__.py",
        ]
    );
}

#[test]
fn stars_are_transparent_and_honour_all() {
    let files = "\
=== pkg/__init__.py
from pkg.a import *
=== pkg/a.py
__all__ = ['shown']
def shown(): ...
def hidden(): ...
=== user.py
import pkg as p
p.shown()
p.hidden()
=== other.py
from pkg import *
shown()
hidden()
";
    assert_eq!(referrers(files, "pkg/a.py", "shown"), ["other.py:2 Call(0)", "user.py:2 Call(0)"]);
    assert_eq!(referrers(files, "pkg/a.py", "hidden"), Vec::<String>::new());
}

#[test]
fn methods_are_found_by_what_the_receiver_is() {
    let files = "\
=== a.py
class Base:
    def run(self, n): ...
    def me(self):
        return self
class Other:
    def run(self): ...
def make() -> Base: ...
=== b.py
from a import Base, Other, make
Base().run(1)
Other().run()
make().run(2)
make().me().run(3)
def f(x: Base, y: Other, z, u: 'Base | None'):
    x.run(4)
    y.run()
    z.run(5)
    if u:
        u.run(6)
class Sub(Base):
    def run(self, n):
        super().run(n)
    def go(self):
        self.run(7)
for one in [Base(), Base()]:
    one.run(8)
";
    assert_eq!(
        referrers(files, "a.py", "Base.run"),
        [
            "b.py:2 Call(1)",
            "b.py:4 Call(1)",
            "b.py:5 Call(1)",
            "b.py:7 Call(1)",
            "b.py:9 Call(1)~",
            "b.py:11 Call(1)",
            "b.py:13 Redefine",
            "b.py:14 Call(1)",
            "b.py:18 Call(1)",
        ]
    );
}

#[test]
fn a_receiver_without_a_type_is_labelled() {
    let files = "\
=== a.py
class C:
    def only_here(self): ...
=== b.py
def f(x):
    x.only_here()
";
    assert_eq!(referrers(files, "a.py", "C.only_here"), ["b.py:2 Call(0)~"]);
}

#[test]
fn fields_are_found_through_self_and_annotations() {
    let files = "\
=== a.py
class Config:
    limit: int = 3
    def __init__(self):
        self.name = 'x'
class Holder:
    def __init__(self, config: Config):
        self.config = config
=== b.py
from a import Holder
def f(holder: Holder):
    return holder.config.name, holder.config.limit
";
    assert_eq!(referrers(files, "a.py", "Config.name"), ["b.py:3 Value"]);
    assert_eq!(referrers(files, "a.py", "Config.limit"), ["b.py:3 Value"]);
}

#[test]
fn a_constructor_is_called_by_the_name_of_its_class() {
    let files = "\
=== a.py
class C:
    def __init__(self, x): ...
=== b.py
import a
from a import C
class D(C): ...
C(1)
a.C(1, 2)
=== c.py
from b import D
D(3)
";
    assert_eq!(
        referrers(files, "a.py", "C.__init__"),
        ["b.py:4 Call(1)", "b.py:5 Call(2)", "c.py:2 Call(1)"]
    );
}

#[test]
fn local_variables_hide_what_is_imported() {
    let files = "\
=== a.py
def name(): ...
=== b.py
from a import name
def f(name):
    return name()
def g():
    return name()
";
    assert_eq!(referrers(files, "a.py", "name"), ["b.py:1 Import", "b.py:5 Call(0)"]);
}

#[test]
fn modules_are_found_in_packages_and_source_roots() {
    let files = "\
=== src/lib/__init__.py
=== src/lib/core/__init__.py
=== src/lib/core/x.py
from ..y import thing
from ... import nothing
from .gone import lost
import os
=== src/lib/y.py
thing = 1
=== tests/test_x.py
from lib.core import x
import lib.y
";
    let (references, unresolved, external) = outgoing(files, "src/lib/core/x.py");
    assert_eq!(references, ["src/lib/y.py:1"]);
    assert_eq!(unresolved, [".gone:3"]);
    assert_eq!(external, 1);
    let (references, ..) = outgoing(files, "tests/test_x.py");
    assert_eq!(references, ["src/lib/core/__init__.py:1", "src/lib/core/x.py:1", "src/lib/y.py:2"]);
}

#[test]
fn definitions_tell_signature_from_body() {
    let one = facts("a.py", "def f(a, b=1, *, c):\n    return a  # why\n");
    let body = facts("a.py", "def f(a, b=1, *, c):\n    return b\n");
    let comment = facts("a.py", "def f(a,  b=1, *, c):\n    return a\n");
    let signature = facts("a.py", "def f(a, b=1):\n    return a\n");
    let of = |facts: &crate::facts::Facts| (facts.definitions[0].signature, facts.definitions[0].body);
    assert_eq!(one.definitions[0].kind, DefinitionKind::Function);
    assert_eq!(one.definitions[0].arity, Some(Arity { least: 2, most: Some(3) }));
    assert_eq!(of(&one), of(&comment));
    assert_eq!(of(&one).0, of(&body).0);
    assert_ne!(of(&one).1, of(&body).1);
    assert_ne!(of(&one).0, of(&signature).0);
}

#[test]
fn broken_text_gives_facts_and_problems() {
    let facts = facts("a.py", "def f(:\n    x = (\nclass C:\n  def m(self): return 1\n");
    assert!(facts.problems > 0);
}

#[test]
fn modules_of_a_package_do_not_hide_those_of_the_language() {
    let files = "\
=== src/pkg/__init__.py
=== src/pkg/json/__init__.py
def loads(s):
    return s
=== src/pkg/config.py
import json
json.loads('')
=== src/pkg/own.py
from . import json
json.loads('')
";
    assert_eq!(referrers(files, "src/pkg/json/__init__.py", "loads"), ["src/pkg/own.py:2 Call(1)"]);
}

#[test]
fn a_decorated_function_is_what_its_decorator_makes_of_it() {
    let files = "\
=== lib/__init__.py
from .core import Command as Command, Group as Group
from .decorators import group as group, option as option
=== lib/core.py
class Command:
    def command(self): ...

class Group(Command):
    def add(self): ...
=== lib/decorators.py
from typing import Callable, TypeVar
from .core import Group

F = TypeVar('F')

def group(name: str = '') -> Callable[[Callable], Group]: ...

def option(name: str) -> Callable[[F], F]: ...
=== other.py
class Other:
    def add(self): ...
=== user.py
import lib

@lib.group()
def cli():
    pass

cli.add()
=== nested.py
import lib

def test():
    @lib.option('x')
    @lib.group()
    def cli():
        pass

    @cli.command()
    def sub():
        pass
=== plain.py
import lib

@lib.option('x')
def cli() -> str:
    pass

cli.add()
cli().command()
";
    assert_eq!(referrers(files, "lib/core.py", "Group.add"), ["user.py:7 Call(0)"]);
    assert_eq!(referrers(files, "lib/core.py", "Command.command"), ["nested.py:9 Call(0)"]);
}
