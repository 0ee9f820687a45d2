//! Values and their types: spread objects, index signatures, functions in variables, predicates, classes that
//! declare interfaces.

use crate::fixture::{breaking, referrers};

#[test]
fn an_object_has_what_is_spread_into_it() {
    let files = "\
=== shapes.ts
export function circle(size: number) {}
export function square(size: number) {}
=== colours.ts
export const red = { dark() {}, light() {} };
=== b.ts
import * as shapes from './shapes';
import { red } from './colours';
const all = { ...shapes, ...red, square: (n: number, m: number) => n };
all.circle(1);
all.square(1, 2);
all.dark();
";
    assert_eq!(referrers(files, "shapes.ts", "circle"), ["b.ts:4 Call(1)"]);
    assert_eq!(referrers(files, "shapes.ts", "square"), [""; 0]);
    assert_eq!(referrers(files, "colours.ts", "red.dark"), ["b.ts:6 Call(0)"]);
}

#[test]
fn a_type_with_members_of_any_name_misses_none() {
    let files = "\
=== a.ts
export interface Open { [key: string]: unknown; kind?: string; count: number }
export interface Closed { kind?: string }
=== b.ts
import { Open } from './a';
export const f = (open: Open) => open.kind;
=== c.ts
import { Closed } from './a';
export const f = (closed: Closed) => closed.kind;
";
    assert_eq!(breaking(files, "a.ts", "kind?: string", "sort?: string"), ["c.ts"]);
}

#[test]
fn any_typed_value_is_not_checked() {
    let files = "\
=== a.ts
export function work(n: number) {}
=== b.ts
import * as a from './a';
export function keep(name: string, value: unknown) {}
keep('work', a.work);
=== c.ts
import { work } from './a';
export const kept = work as any;
export const older = <any>work;
=== d.ts
import { work } from './a';
export function run(job: (n: number) => void) {}
run(work);
";
    assert_eq!(breaking(files, "a.ts", "n: number", "key: symbol, n: number"), ["d.ts"]);
    assert_eq!(breaking(files, "a.ts", "work", "toil"), ["b.ts", "c.ts", "d.ts"]);
}

#[test]
fn a_function_that_a_variable_holds_is_called_by_that_name() {
    let files = "\
=== a.ts
export class Null { static create(options?: object): Null { return new Null(); } }
const nullType = Null.create;
export { nullType as null };
=== b.ts
import * as a from './a';
a.null();
=== c.ts
import { null as nothing } from './a';
nothing({});
";
    assert_eq!(referrers(files, "a.ts", "Null.create"), ["b.ts:2 Covered(0)", "c.ts:2 Covered(1)"]);
    assert_eq!(breaking(files, "a.ts", "create(", "create(key: symbol, "), ["b.ts", "c.ts"]);
    assert_eq!(breaking(files, "a.ts", "static create", "static make"), [""; 0]);
}

#[test]
fn types_are_found_through_namespace_reexports() {
    let files = "\
=== core/schemas.ts
export interface Enum { kind: string }
export const Enum = 1;
=== core/index.ts
export * from './schemas';
=== external.ts
export * as core from './core/index';
=== index.ts
export * from './external';
=== b.ts
import * as z from './index';
import * as core from './core';
const one = { kind: 'x' } satisfies z.core.Enum;
=== c.ts
import * as core from './core/index';
export function each(x: core.Enum) {}
";
    assert_eq!(breaking(files, "core/schemas.ts", "Enum", "Choice"), ["b.ts", "c.ts"]);
}

#[test]
fn class_must_have_members_of_its_interface() {
    let files = "\
=== a.ts
export interface Seen { watchers: Set<string>; count?: number; look(n: number): void }
export function report(seen: Seen) {}
=== b.ts
import { Seen } from './a';
export class Atom implements Seen { watchers = new Set<string>(); count = 0; look(n: number) {} }
=== c.ts
import { report } from './a';
class Other { watchers = new Set<string>(); static count = 0; look() {} run() { report(this); } }
=== d.ts
import { Atom } from './b';
import { report } from './a';
report(new Atom());
";
    assert_eq!(breaking(files, "a.ts", "watchers", "observers"), ["b.ts", "c.ts", "d.ts"]);
    assert_eq!(breaking(files, "a.ts", "count?", "amount?"), [""; 0]);
    assert_eq!(breaking(files, "a.ts", "watchers: Set<string>;", ""), [""; 0]);
    assert_eq!(breaking(files, "a.ts", "look(n: number)", "look(key: symbol, n: number)"), ["b.ts", "d.ts"]);
}

#[test]
fn subclass_inherits_members_it_lacks() {
    let files = "\
=== step.ts
export abstract class Step { abstract toJSON(): string; abstract apply(n: number): void }
=== attr.ts
import { Step } from './step';
export class Attr extends Step { toJSON() { return ''; } apply(n: number) {} }
=== use.ts
import { Step } from './step';
import { Attr } from './attr';
function run(step: Step) {}
run(new Attr());
";
    assert_eq!(breaking(files, "attr.ts", "toJSON", "toText"), [""; 0]);
    assert_eq!(breaking(files, "attr.ts", "apply(n: number)", "apply(n: number, m: symbol)"), ["use.ts"]);
}

#[test]
fn suppressed_mismatches_are_not_reported() {
    let files = "\
=== a.ts
export function make(n: number) {}
=== b.ts
import { make } from './a';
// @ts-ignore: not yet
make(1);
";
    assert_eq!(breaking(files, "a.ts", "n: number)", "n: number, m: number)"), [""; 0]);
    assert_eq!(breaking(files, "a.ts", "make", "build"), ["b.ts"]);
}

#[test]
fn a_type_may_have_what_modules_export() {
    let files = "\
=== api/find.ts
import type { Api } from '../api';
export function filter(this: Api, s: string): Api { return this; }
=== api/make.ts
import type { Api } from '../api';
export function wrap(this: Api) { return this.filter('a'); }
=== api.ts
import * as Find from './api/find';
import * as Make from './api/make';
type Methods = typeof Find & typeof Make;
export class Api { own(): Api { return this; } }
export interface Api extends Methods {}
=== use.ts
import { Api } from './api';
new Api().own().filter('b');
";
    let broken = ["api/make.ts", "use.ts"];
    assert_eq!(breaking(files, "api/find.ts", "function filter", "function sift"), broken);
}

#[test]
fn inherited_members_fulfil_an_interface() {
    let files = "\
=== hash.ts
export interface Hash { blockLen: number }
export type HashXOF = Hash & { xof(): void };
=== base.ts
export class Base { blockLen = 1; other = 2; }
=== heir.ts
import { HashXOF } from './hash';
import { Base } from './base';
export class Heir extends Base implements HashXOF { xof() {} }
=== own.ts
import { HashXOF } from './hash';
import { Base } from './base';
export class Own extends Base implements HashXOF { blockLen = 3; xof() {} }
";
    assert_eq!(breaking(files, "base.ts", "blockLen", "length"), ["heir.ts"]);
    assert_eq!(breaking(files, "base.ts", "other", "another"), [""; 0]);
}

#[test]
fn picked_key_must_exist() {
    let files = "\
=== a.ts
export interface Props { first: string; second: string }
=== picked.ts
import { Props } from './a';
export interface Context extends Pick<Props, 'first' | 'second'> { store: string }
=== alias.ts
import { Props } from './a';
export type One = Pick<Props, 'first'>;
=== omitted.ts
import { Props } from './a';
export type Two = Omit<Props, 'first'>;
";
    assert_eq!(breaking(files, "a.ts", "first", "once"), ["alias.ts", "picked.ts"]);
    assert_eq!(breaking(files, "a.ts", "second: string", ""), ["picked.ts"]);
}

#[test]
fn a_parameter_is_what_a_condition_asks_of_it() {
    let files = "\
=== kinds.ts
export type Call = { inputs: string[]; payable: boolean };
export type Event = { inputs: string[] };
=== met.ts
import { Call, Event } from './kinds';
export type Name<T extends Call | Event> = T extends Call ? `call${T['payable']}` : T['inputs'];
=== wrapped.ts
import { Call } from './kinds';
export type Name<T> = [T] extends [Call] ? T['payable'] : never;
=== other.ts
import { Call } from './kinds';
export type Name<T extends { payable: 1 }> = T extends Call ? 1 : T['payable'];
";
    assert_eq!(breaking(files, "kinds.ts", "payable", "paid"), ["met.ts", "wrapped.ts"]);
}

#[test]
fn renamed_default_export_breaks_no_importer() {
    let files = "\
=== kinds.ts
const Kinds = { first: () => 'a', second: 'b' };
export default Kinds;
=== b.ts
import Kinds from './kinds';
export const one = Kinds.first();
";
    assert_eq!(breaking(files, "kinds.ts", "Kinds", "Sorts"), [""; 0]);
    // A file that exports a removed definition breaks itself.
    assert_eq!(breaking(files, "kinds.ts", "const Kinds = { first: () => 'a', second: 'b' };", ""), [""; 0]);
    assert_eq!(breaking(files, "kinds.ts", "first:", "last:"), ["b.ts"]);
}

#[test]
fn type_predicate_narrows_a_value() {
    let files = "\
=== a.ts
export class Map { keys() {} }
export class Set { keys() {} }
export class List { keys() {} }
export function isMap(thing: any): thing is Map { return true; }
export const isSet = make('Set') as (thing: unknown) => thing is Set;
export function isList(thing: any) { return true; }
=== b.ts
import { isMap, isSet, isList } from './a';
export function f(it: any, other: any) {
  if (isMap(it) || isSet(it)) it.keys();
  if (!isSet(other)) return;
  other.keys();
}
export function g(it: any) {
  if (isList(it)) it.keys();
}
";
    assert_eq!(referrers(files, "a.ts", "Map.keys"), ["b.ts:3 Call(0)", "b.ts:8 Call(0)??"]);
    assert_eq!(
        referrers(files, "a.ts", "Set.keys"),
        ["b.ts:3 Call(0)", "b.ts:5 Call(0)", "b.ts:8 Call(0)??"]
    );
    assert_eq!(referrers(files, "a.ts", "List.keys"), ["b.ts:8 Call(0)??"]);
}

#[test]
fn nothing_can_be_taken_from_what_is_no_module_any_more() {
    let files = "\
=== a.ts
export interface Signal { stop: boolean }
=== b.ts
export * from './a';
=== c.ts
import './a';
=== d.ts
import { Signal } from './b';
export const f = (signal: Signal) => signal.stop;
";
    assert_eq!(
        breaking(files, "a.ts", "export interface Signal { stop: boolean }", "f();"),
        ["b.ts", "d.ts"]
    );
    let other = "export interface Other {}";
    assert_eq!(breaking(files, "a.ts", "export interface Signal { stop: boolean }", other), ["d.ts"]);
}

#[test]
fn method_with_this_type_checks_its_receiver() {
    let files = "\
=== parts.ts
export class Reader { read(n: number) {} }
export class Writer { write(n: number) {} }
export type Both = Reader & Writer;
=== b.ts
import { Both } from './parts';
export class Mixed {
  run(this: Both) { this.read(1); [1].forEach(() => this.write(1)); this.plain(); }
  plain() {}
  read() {}
  own() { this.read(); }
}
";
    assert_eq!(referrers(files, "parts.ts", "Reader.read"), ["b.ts:3 Call(1)"]);
    assert_eq!(referrers(files, "parts.ts", "Writer.write"), ["b.ts:3 Call(1)"]);
    assert_eq!(referrers(files, "b.ts", "Mixed.plain"), [""; 0]);
}

#[test]
fn generic_alias_resolves_to_its_result() {
    let files = "\
=== types.ts
export type Maybe<T> = T | undefined;
export type Marked<T> = T extends unknown ? T & ([Brand<T>] extends [never] ? T : Brand<T>) : never;
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type Second<A, B> = A extends string ? B : never;
export type Brand<T> = { brand: T };
=== field.ts
import { Maybe, Marked, Mutable, Second, Brand } from './types';
export interface Field { div(a: number, b: number): number; }
export interface Other { div(a: number): number; }
export declare function maybe(): Maybe<Field>;
export declare function marked(): Marked<Readonly<Field>>;
export declare function mutable(): Mutable<Field>;
export declare function second(): Second<Other, Field>;
export declare function first(): Second<Field, Other>;
export declare function branded(): Brand<Field>;
=== maybe.ts
import { maybe } from './field';
maybe()?.div(1, 2);
=== marked.ts
import { marked } from './field';
const it = (() => marked())();
it.div(1, 2);
=== mutable.ts
import { mutable } from './field';
mutable().div(1, 2);
=== second.ts
import { second } from './field';
second().div(1, 2);
=== first.ts
import { first } from './field';
first().div(1);
=== branded.ts
import { branded } from './field';
branded().brand;
";
    assert_eq!(
        breaking(files, "field.ts", "div(a: number, b: number)", "div(a: number, b: number, c: number)"),
        ["marked.ts", "maybe.ts", "mutable.ts", "second.ts"]
    );
    assert_eq!(breaking(files, "types.ts", "brand: T", "mark: T"), ["branded.ts"]);
}

#[test]
fn an_object_type_without_a_name_is_its_properties() {
    let files = "\
=== field.ts
export interface Field { div(a: number, b: number): number; }
export interface Other { div(a: number): number; }
=== make.ts
import { Field, Other } from './field';
export declare function make(): { field: Field; other: Other };
export declare function later(): Promise<{ field: Field; method(): Field }>;
=== taken.ts
import { make } from './make';
const { field } = make();
field.div(1, 2);
=== awaited.ts
import { later } from './make';
async function f() { const it = await later(); it.method().div(1, 2); }
=== parameter.ts
import { Field } from './field';
export function f({ field, n }: { field: Field; n: number }) { return field.div(n, n); }
=== either.ts
import { Field } from './field';
export function f(it: { field: Field } | { n: number }) { if ('field' in it) it.field.div(1, 2); }
=== other.ts
import { make } from './make';
make().other.div(1);
=== own.ts
export function f(it: { div: (a: number) => void }) { it.div(1); f({ div: () => {} }); }
";
    assert_eq!(
        breaking(files, "field.ts", "div(a: number, b: number)", "div(a: number, b: number, c: number)"),
        ["awaited.ts", "either.ts", "parameter.ts", "taken.ts"]
    );
    assert_eq!(breaking(files, "field.ts", "Other { div(a", "Other { part(a"), ["other.ts"]);
}
