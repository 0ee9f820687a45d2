//! Inference with few annotations: the files that a checker rejects. Every member has a namesake in
//! `others.py`, so that only the type of a value identifies its owner.

use super::typed::check;

const OTHERS: &str = "\
=== others.py
class One:
    label = ''
    def run(self): ...
class Two:
    label = ''
    def run(self): ...
class Three:
    label = ''
    def run(self): ...
";

fn with_others(files: &str) -> String {
    format!("{OTHERS}{files}")
}

#[test]
fn the_first_parameter_of_a_function_is_one_more() {
    let files = "\
=== a.py
def make():
    return 1
=== b.py
from a import make
make()
";
    check(
        files,
        &[
            ("a.py", "make()", "make(size)", &["b.py"]),
            ("a.py", "make()", "make(size=1)", &[]),
            ("a.py", "1", "2", &[]),
        ],
    );
}

#[test]
fn a_method_may_give_its_own_class() {
    let files = with_others(
        "\
=== a.py
from typing import Self, TypeVar
T = TypeVar('T')
U = TypeVar('U', bound='Chain')
class Chain:
    def run(self): ...
    def me(self) -> Self: ...
    def bare(self: T) -> T: ...
    @classmethod
    def new(cls: type[T]) -> T: ...
def same(it: U) -> U: ...
class Heir(Chain):
    label = ''
=== me.py
from a import Heir
Heir().me().me().label
=== bare.py
from a import Heir
Heir.new().bare().label
=== bound.py
from a import Chain, same
same(Chain()).run()
",
    );
    check(
        &files,
        &[
            ("a.py", "label", "title", &["bare.py", "me.py"]),
            ("a.py", "def run(self)", "def go(self)", &["bound.py"]),
        ],
    );
}

#[test]
fn the_members_of_an_enumeration_are_its_values() {
    let files = with_others(
        "\
=== a.py
import enum
class Color(enum.Enum):
    RED = 1
    def run(self): ...
class Shade(Color):
    DARK = 2
=== b.py
from a import Color
Color.RED.run()
=== c.py
from a import Color
for color in Color:
    color.run()
=== d.py
from a import Shade
Shade.DARK.run()
=== e.py
from a import Color
Color.RED.value
",
    );
    check(
        &files,
        &[
            ("a.py", "def run(self)", "def go(self)", &["b.py", "c.py", "d.py"]),
            ("a.py", "RED", "BLUE", &["b.py", "e.py"]),
        ],
    );
}

#[test]
fn type_alias_resolves_to_its_type() {
    let files = with_others(
        "\
=== a.py
from typing import List, Optional, Tuple, Union
class A:
    def run(self): ...
class B: ...
Both = Union[A, B]
Maybe = Optional[A]
Piped = A | None
type New = A | B
Tree = Union[A, List['Tree'], Tuple['Tree', 'Tree']]
LIMIT = 1 | 2
=== union.py
from a import Both
def f(x: Both): x.run()
=== maybe.py
from a import Maybe
def f(x: Maybe):
    if x: x.run()
=== piped.py
from a import Piped
def f(x: Piped):
    if x: x.run()
=== new.py
from a import New
def f(x: New): x.run()
=== tree.py
from a import Tree
def f(x: Tree): x.run()
",
    );
    let all: &[&str] = &["maybe.py", "new.py", "piped.py", "tree.py", "union.py"];
    check(&files, &[("a.py", "def run(self)", "def go(self)", all)]);
}

#[test]
fn parts_of_tuples_and_lists_are_what_they_hold() {
    let files = with_others(
        "\
=== a.py
from typing import List, Tuple
class A:
    label = ''
    def run(self): ...
def pairs() -> List[Tuple[str, A]]: ...
def many() -> tuple[A, ...]: ...
def two() -> Tuple[int, A]: ...
=== pairs.py
from a import pairs
for name, a in pairs(): a.run()
=== many.py
from a import many
many()[0].run()
for a in many()[1:]: a.run()
=== two.py
from a import two
two()[1].run()
=== first.py
from a import two
two()[0].run()
=== key.py
from a import many
sorted(many(), key=lambda a: a.label)
=== most.py
from a import many
max(many(), key=len).label
",
    );
    check(
        &files,
        &[
            ("a.py", "def run(self)", "def go(self)", &["many.py", "pairs.py", "two.py"]),
            ("a.py", "label", "title", &["key.py", "most.py"]),
        ],
    );
}

#[test]
fn new_abstract_member_breaks_instantiations() {
    let files = "\
=== base.py
from abc import ABC, abstractmethod
class Base(ABC):
    @abstractmethod
    def run(self): ...
    def stop(self): ...
=== impl.py
from base import Base
class Impl(Base):
    def run(self): ...
class Heir(Impl): ...
=== made.py
import impl
impl.Impl()
=== heir.py
from impl import Heir
Heir()
=== typed.py
from impl import Impl
def f(it: Impl): it.stop()
";
    check(
        files,
        &[
            ("impl.py", "def run(self)", "def go(self)", &["heir.py", "made.py"]),
            ("impl.py", "    def run(self): ...", "    pass", &["heir.py", "made.py"]),
            ("impl.py", "def run(self)", "def run(self, at=0)", &[]),
            ("base.py", "def run(self)", "def go(self)", &["heir.py", "made.py"]),
            ("base.py", "def stop(self)", "def end(self)", &["typed.py"]),
        ],
    );
}

#[test]
fn typed_dict_keys_are_checked() {
    let files = with_others(
        "\
=== a.py
from typing import TypedDict
class Movie(TypedDict):
    label: str
class Long(Movie):
    hours: int
class Plain:
    label = ''
    def __getitem__(self, key): ...
=== read.py
from a import Long
def f(it: Long): return it['label']
=== write.py
from a import Movie
it: Movie = {'label': 'x'}
=== given.py
from a import Movie
def f() -> Movie:
    return {'label': 'x'}
=== plain.py
from a import Plain
Plain()['label']
{}['label']
",
    );
    check(&files, &[("a.py", "label: str", "title: str", &["given.py", "read.py", "write.py"])]);
    check(&files, &[("a.py", "label = ''", "title = ''", &[])]);
}

#[test]
fn a_parameter_is_what_it_is_in_the_method_that_is_redefined() {
    let files = with_others(
        "\
=== a.py
class Item:
    def run(self): ...
class Handler:
    def handle(self, item: Item, n: int): ...
=== b.py
from a import Handler
class Own(Handler):
    def handle(self, item, n):
        item.run()
=== c.py
class Free:
    def handle(self, item, n):
        item.run()
",
    );
    check(&files, &[("a.py", "def run(self)", "def go(self)", &["b.py"])]);
}

#[test]
fn a_class_has_what_is_given_to_it_by_its_methods() {
    let files = with_others(
        "\
=== a.py
class Pool:
    default = None
    @classmethod
    def get(cls):
        if cls.default is None:
            cls.default = cls()
        return cls.default
    def run(self): ...
=== b.py
import a
a.Pool.get().run()
=== c.py
import a
def f(pool: a.Pool = a.Pool()):
    it: a.Pool = somewhere(pool)
    it.run()
",
    );
    check(&files, &[("a.py", "def run(self)", "def go(self)", &["b.py", "c.py"])]);
}

#[test]
fn arguments_without_types_may_move_to_other_parameters() {
    let files = "\
=== a.py
from functools import lru_cache
def free(a, b=0): ...
def typed(a: int, b: str = ''): ...
def first(a: str = ''): ...
@lru_cache
def kept(a): ...
def named(a=0, b=0): ...
=== free.py
from a import free
free(1, 2)
=== typed.py
from a import typed
typed(1, 'x')
=== first.py
from a import first
first('x')
=== kept.py
from a import kept
kept(1)
=== named.py
from a import named
named(b=1)
";
    check(
        files,
        &[
            ("a.py", "free(a", "free(more, a", &[]),
            ("a.py", "typed(a", "typed(more, a", &["typed.py"]),
            ("a.py", "first(a", "first(more, a", &[]),
            ("a.py", "kept(a", "kept(more, a", &[]),
            ("a.py", "named(a=0, b=0)", "named(a=0)", &["named.py"]),
        ],
    );
}

#[test]
fn dynamic_module_attribute_may_be_uncallable() {
    let files = "\
=== pkg/__init__.py
from pkg.a import make
def __getattr__(name: str) -> str: ...
=== pkg/a.py
def make(): ...
=== called.py
import pkg
pkg.make()
=== named.py
import pkg
print(pkg.make)
";
    check(files, &[("pkg/a.py", "def make", "def build", &["called.py", "pkg/__init__.py"])]);
}
