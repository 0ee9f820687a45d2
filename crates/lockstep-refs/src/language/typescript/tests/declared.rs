//! Declarations of a module: namespaces, aliases, accessors, frozen objects, types of several parts.

use crate::facts::{DefinitionKind, Reach};
use crate::fixture::{breaking, referrers};
use crate::language::facts;

#[test]
fn everything_in_a_declared_namespace_can_be_named() {
    let files = "\
=== a.ts
export declare namespace Tools { const size: number; namespace Inner { type Name = string } }
export namespace Made { const hidden = 1; export const shown = 2; }
=== b.ts
import { Tools } from './a';
export const size = Tools.size;
export type Name = Tools.Inner.Name;
";
    assert_eq!(referrers(files, "a.ts", "Tools.size"), ["b.ts:2 Value"]);
    assert_eq!(breaking(files, "a.ts", "type Name", "type Title"), ["b.ts"]);
    let reach = |name: &str| {
        let facts = facts("a.ts", files.split_once('\n').unwrap().1);
        facts.definitions.iter().find(|definition| &*definition.name == name).unwrap().reach
    };
    assert_eq!(
        (reach("size"), reach("hidden"), reach("shown")),
        (Reach::Everyone, Reach::File, Reach::Everyone)
    );
}

#[test]
fn namespace_alias_is_reexported() {
    let files = "\
=== a.ts
namespace Deep { export namespace Inner { export interface Options { limit: number } } }
export import Short = Deep.Inner;
=== b.ts
import { Short } from './a';
export const limit = (options: Short.Options) => options.limit;
";
    assert_eq!(breaking(files, "a.ts", "Short", "Shorter"), ["b.ts"]);
    assert_eq!(breaking(files, "a.ts", "Options", "Settings"), ["b.ts"]);
    assert_eq!(breaking(files, "a.ts", "limit:", "most:"), ["b.ts"]);
}

#[test]
fn setter_only_property_is_a_member() {
    let files = "\
=== a.ts
export class Gauge {
  set level(value: number) {}
  set both(value: number) {}
  get both() { return 1; }
}
=== b.ts
import { Gauge } from './a';
new Gauge().level = 2;
";
    assert_eq!(breaking(files, "a.ts", "level", "height"), ["b.ts"]);
    let found = facts("a.ts", files);
    assert_eq!(found.definitions.iter().filter(|definition| &*definition.name == "both").count(), 1);
}

#[test]
fn a_frozen_object_has_its_properties() {
    let files = "\
=== a.ts
export const limits = Object.freeze({ low: 1, high: 2 });
=== b.ts
import { limits } from './a';
export const low = limits.low;
=== c.ts
import { limits } from './a';
export const high = limits.high;
";
    assert_eq!(breaking(files, "a.ts", "low:", "least:"), ["b.ts"]);
}

#[test]
fn the_members_of_every_part_of_a_type_are_its_own() {
    let files = "\
=== a.ts
export interface Other { kind: 'other'; extra: string }
export type Event = { kind: 'start'; at: number } | { kind: 'stop'; reason: string } | Other | null;
export type Both = { first: string } & { second: number } & Other;
=== b.ts
import { Event } from './a';
export function when(event: Event) { if (event?.kind == 'start') return event.at; }
=== c.ts
import { Event } from './a';
export function why(event: Event) { if (event?.kind == 'stop') return event.reason; }
=== d.ts
import { Both } from './a';
export const second = (both: Both) => both.second;
export const extra = (both: Both) => both.extra;
=== e.ts
import { Event } from './a';
export const extra = (event: Event) => event?.kind == 'other' && event.extra;
";
    assert_eq!(breaking(files, "a.ts", "at: number", "since: number"), ["b.ts"]);
    assert_eq!(breaking(files, "a.ts", "reason", "cause"), ["c.ts"]);
    assert_eq!(breaking(files, "a.ts", "second", "last"), ["d.ts"]);
    assert_eq!(breaking(files, "a.ts", "extra", "more"), ["d.ts", "e.ts"]);
    let found = facts("a.ts", "export type A = { a: 1 } | { b: 2 };");
    assert_eq!(found.definitions[0].kind, DefinitionKind::Interface);
}

#[test]
fn a_value_may_be_one_of_many() {
    let many: String =
        (0..20).map(|at| format!("export interface T{at} {{ kind: {at}; own{at}: string }}\n")).collect();
    let names: Vec<String> = (0..20).map(|at| format!("T{at}")).collect();
    let files = format!(
        "=== a.ts\n{many}export type All = {};\n=== b.ts\nimport {{ All }} from './a';\nexport const f = (all: All) => all.kind == 7 && all.own7;\n",
        names.join(" | ")
    );
    assert_eq!(breaking(&files, "a.ts", "own7", "mine"), ["b.ts"]);
    assert_eq!(breaking(&files, "a.ts", "kind: 3", "sort: 3"), ["b.ts"]);
    assert_eq!(breaking(&files, "a.ts", "own6", "mine"), [""; 0]);
}

#[test]
fn a_namespace_offers_what_it_lists_and_the_module_does_not() {
    let files = "\
=== a.ts
export class Agents { list() {} }
export type AgentsPage = { next: string };
export declare namespace Agents { export { type AgentsPage as AgentsPage }; }
=== b.ts
import { type AgentsPage } from './a';
export const next = (page: AgentsPage) => page.next;
=== c.ts
import { Agents } from './a';
export const next = (page: Agents.AgentsPage) => page.next;
";
    // For a checker, the namespace still has the name: the export list breaks.
    assert_eq!(breaking(files, "a.ts", "export type AgentsPage = { next: string };", ""), ["b.ts"]);
    assert_eq!(breaking(files, "a.ts", "next: string", "after: string"), ["b.ts", "c.ts"]);
}

#[test]
fn array_methods_are_not_attributed_to_project_types() {
    let files = "\
=== a.ts
export class Lane { push(item: string) {} advance(item: string) {} }
=== b.ts
import { gather } from 'elsewhere';
export const fill = () => gather((some) => some.push(1));
=== c.ts
import { gather } from 'elsewhere';
export const fill = () => gather((some) => some.advance(1));
";
    assert_eq!(breaking(files, "a.ts", "push(", "put("), [""; 0]);
    assert_eq!(breaking(files, "a.ts", "advance(", "proceed("), ["c.ts"]);
}

#[test]
fn a_property_of_a_constructor_is_what_its_default_is() {
    let files = "\
=== mark.ts
export class Mark { static none: readonly Mark[] = []; add(to: readonly Mark[]) { return to; } }
=== node.ts
import { Mark } from './mark';
export class Node { constructor(readonly size: number, readonly marks = Mark.none) {} }
=== a.ts
import { Node } from './node';
export function all(node: Node) { return node.marks[0].add(node.marks); }
";
    assert_eq!(breaking(files, "mark.ts", "add(to", "add(more: symbol, to"), ["a.ts"]);
}
