//! TypeScript and JavaScript in small projects of several files: resolved and unresolved references, and
//! effects of changes.

mod declared;
mod defaults;
mod elements;
mod loaded;
mod parameters;
mod values;

use crate::facts::{Arity, DefinitionKind};
use crate::fixture::{breaking, outgoing, referrers};
use crate::language::facts;

#[test]
fn names_are_followed_through_barrels() {
    let files = "\
=== src/a.ts
export function greet(name: string) {}
export const other = 1;
=== src/index.ts
export { greet } from './a';
export * from './b';
=== src/b.ts
export * from './a.js';
=== src/c.ts
import { greet as hello } from './a';
import * as a from './a';
hello('x');
a.greet('y', 2);
=== src/d.ts
import { greet } from '.';
greet('z');
=== src/e.ts
import { greet } from './b';
greet(...x);
=== src/f.ts
function greet() {}
greet();
";
    assert_eq!(
        referrers(files, "src/a.ts", "greet"),
        [
            "src/c.ts:1 Import",
            "src/c.ts:3 Call(1)",
            "src/c.ts:4 Call(2)",
            "src/d.ts:1 Import via src/index.ts",
            "src/d.ts:2 Call(1) via src/index.ts",
            "src/e.ts:1 Import",
            "src/e.ts:2 Call",
            "src/index.ts:1 Reexport",
        ]
    );
}

#[test]
fn default_exports_go_by_any_name() {
    let files = "\
=== src/widget.ts
export default class Widget { render() {} }
=== src/a.ts
import W from './widget';
new W().render();
=== src/b.ts
export { default as Renamed } from './widget';
=== src/c.ts
import { Renamed } from './b';
new Renamed();
";
    assert_eq!(
        referrers(files, "src/widget.ts", "Widget"),
        [
            "src/a.ts:1 Import",
            "src/a.ts:2 Call(0)",
            "src/b.ts:1 Reexport",
            "src/c.ts:1 Import via src/b.ts",
            "src/c.ts:2 Call(0) via src/b.ts",
        ]
    );
    assert_eq!(referrers(files, "src/widget.ts", "Widget.render"), ["src/a.ts:2 Call(0)"]);
}

#[test]
fn members_are_found_by_what_the_receiver_is() {
    let files = "\
=== a.ts
export class Base<T> {
  count = 0;
  constructor(public size: number) {}
  run(n: number): this { return this; }
}
export class Other { run() {} }
export function make(): Promise<Base<string>> { return null!; }
export function each(callback: (one: Base<number>, n: number) => void) {}
export interface Options { limit: number; nested?: Options }
export function configure(options: Options) {}
=== b.ts
import { Base, Other, make, each, configure, Options } from './a';
new Base(1).run(1);
new Other().run();
async function f(x: Base<number>, ys: Base<number>[], z: any, o: Other) {
  (await make()).run(2);
  x.run(3).run(4);
  for (const y of ys) y.run(5);
  ys.forEach((y) => y.run(6));
  each((one) => one.run(7));
  z.run(8);
  o.run();
  const { size } = x;
}
class Sub extends Base<string> {
  override run(n: number): this { super.run(n); return this; }
  go() { return this.count; }
}
configure({ limit: 3, nested: { limit: 4 } });
const options: Options = { limit: 5 };
";
    assert_eq!(
        referrers(files, "a.ts", "Base.run"),
        [
            "b.ts:2 Call(1)",
            "b.ts:5 Call(1)",
            "b.ts:6 Call(1)",
            "b.ts:7 Call(1)",
            "b.ts:8 Call(1)",
            "b.ts:9 Call(1)",
            "b.ts:10 Call(1)??",
            "b.ts:15 Override",
            "b.ts:15 Call(1)",
            "b.ts:15 Redefine",
        ]
    );
    assert_eq!(referrers(files, "a.ts", "Base.count"), ["b.ts:16 Value"]);
    assert_eq!(referrers(files, "a.ts", "Base.size"), ["b.ts:12 Pattern"]);
    assert_eq!(referrers(files, "a.ts", "Options.limit"), ["b.ts:18 Construct", "b.ts:19 Construct"]);
    assert_eq!(referrers(files, "a.ts", "Base.constructor"), ["b.ts:2 Call(1)"]);
}

#[test]
fn modules_are_found_by_configuration() {
    let files = r##"
=== tsconfig.base.json
{ "compilerOptions": { "baseUrl": ".", "paths": { "@app/*": ["packages/app/src/*"] } } }
=== packages/app/tsconfig.json
{ // comments are fine
  "extends": "../../tsconfig.base.json", }
=== packages/app/src/x.ts
import { y } from '@app/y';
import { core, deep } from '@scope/core';
import { deep as d } from '@scope/core/deep';
import fs from 'fs';
import { gone } from './gone';
import { own } from '#own';
=== packages/app/src/y.ts
export const y = 1;
=== packages/app/src/own.ts
export const own = 1;
=== packages/app/package.json
{ "name": "app", "imports": { "#own": "./src/own.ts" } }
=== packages/core/package.json
{ "name": "@scope/core", "exports": { ".": { "import": "./dist/index.js" }, "./deep": "./dist/deep/index.js" } }
=== packages/core/src/index.ts
export const core = 1;
export * from './deep';
=== packages/core/src/deep/index.ts
export const deep = 1;
"##;
    let (references, unresolved, external) = outgoing(files, "packages/app/src/x.ts");
    assert_eq!(
        references,
        [
            "packages/app/src/own.ts:6",
            "packages/app/src/y.ts:1",
            "packages/core/src/deep/index.ts:2",
            "packages/core/src/deep/index.ts:3",
            "packages/core/src/index.ts:2",
        ]
    );
    assert_eq!(unresolved, ["./gone:5"]);
    assert_eq!(external, 1);
}

#[test]
fn commonjs_takes_part() {
    let files = "\
=== lib/a.js
function run() {}
exports.stop = function (x) {};
module.exports.run = run;
=== lib/b.js
const a = require('./a');
const { run, stop: halt } = require('./a');
a.run();
run();
halt(1);
";
    assert_eq!(referrers(files, "lib/a.js", "stop"), ["lib/b.js:2 Import", "lib/b.js:5 Call(1)"]);
    assert_eq!(
        referrers(files, "lib/a.js", "run"),
        ["lib/b.js:2 Import", "lib/b.js:3 Call(0)", "lib/b.js:4 Call(0)"]
    );
}

#[test]
fn modules_that_are_loaded_while_running_take_part() {
    let files = "\
=== lib/a.ts
export function run() {}
export const stop = (x: number) => x;
=== lib/b.ts
export async function f() {
  const { run, stop: halt } = await import('./a');
  run();
  halt(1);
}
export async function g() {
  const a = await import('./a');
  a.run();
}
";
    assert_eq!(referrers(files, "lib/a.ts", "stop"), ["lib/b.ts:2 Import", "lib/b.ts:4 Call(1)"]);
    assert_eq!(
        referrers(files, "lib/a.ts", "run"),
        ["lib/b.ts:2 Import", "lib/b.ts:3 Call(0)", "lib/b.ts:8 Call(0)"]
    );
}

#[test]
fn elements_use_their_components() {
    let files = "\
=== button.tsx
export const Button = (props: Props) => <b>{props.label}</b>;
export interface Props { label: string }
=== page.tsx
import { Button } from './button';
export const Page = () => <div><Button label='x' /></div>;
";
    assert_eq!(referrers(files, "button.tsx", "Button"), ["page.tsx:1 Import", "page.tsx:2 Call"]);
}

#[test]
fn definitions_tell_signature_from_body() {
    let one = facts("a.ts", "export function f(a: string, b?: number, ...c: any[]): void { return; }");
    let body = facts("a.ts", "export function f(a: string, b?: number, ...c: any[]): void { throw 1; }");
    let signature = facts("a.ts", "export function f(a: string): void { return; }");
    let of = |facts: &crate::facts::Facts| (facts.definitions[0].signature, facts.definitions[0].body);
    assert_eq!(one.definitions[0].kind, DefinitionKind::Function);
    assert_eq!(one.definitions[0].arity, Some(Arity { least: 1, most: None }));
    assert_eq!(of(&one).0, of(&body).0);
    assert_ne!(of(&one).1, of(&body).1);
    assert_ne!(of(&one).0, of(&signature).0);
}

#[test]
fn broken_text_gives_facts_and_problems() {
    let facts = facts("a.ts", "export function f( { \n class C { m( } \n import { x from");
    assert!(facts.problems > 0);
}

#[test]
fn names_in_text_that_cannot_be_read_are_uses_all_the_same() {
    let files = "\
=== a.ts
export function make(n: number) {}
export function other(n: number) {}
=== b.ts
import { make, other } from './a';
interface Connect { @@ <<<
function f() {
  // other(1)
  return make(1) + 'other(2)';
}
";
    let changed = |name: &str| {
        let (from, to) = (format!("{name}(n: number)"), format!("{name}(n: number, m: number)"));
        breaking(files, "a.ts", &from, &to)
    };
    assert_eq!(changed("make"), ["b.ts"]);
    assert_eq!(changed("other"), [""; 0]);
}

#[test]
fn code_rejected_only_by_the_grammar_is_extracted() {
    let files = "\
=== a.tsx
export interface Connect {
  (): Result

  /** all */
  <T = {}>(a: T): Result<T>
}
export interface Box<in out T> { held: T }
export function make(n: number) { return <b>{n}</b>; }
=== b.ts
export type * from './a';
=== c.ts
import { Box, make } from './b';
function f(box: Box<string>) { box.held; make(1); }
";
    let facts = |path, text: &str| facts(path, text).problems;
    for part in files.split("=== ").skip(1) {
        let (path, text) = part.split_once('\n').unwrap();
        assert_eq!(facts(path, text), 0, "{path}");
    }
    assert_eq!(breaking(files, "a.tsx", "held", "kept"), ["c.ts"]);
    assert_eq!(breaking(files, "a.tsx", "make(n: number)", "make(n: number, m: number)"), ["c.ts"]);
}

#[test]
fn private_fields_are_followed_to_what_they_hold() {
    let files = "\
=== a.ts
export class Queue { push(n: number) {} }
=== b.ts
import { Queue } from './a';
class Holder {
  #queue: Queue;
  #all: Queue[] = [];
  go() { this.#queue.push(1); this.#all.forEach((one) => one.push(2)); this.#all[0].push(3); }
}
";
    assert_eq!(referrers(files, "a.ts", "Queue.push"), ["b.ts:5 Call(1)"]);
}

#[test]
fn removed_base_removes_inherited_members() {
    let files = "\
=== a.ts
export interface Clock { now(): number }
export interface Alarm extends Clock { ring(): void }
export class Base { constructor(public size: number) {} grow() {} }
=== b.ts
import { Base } from './a';
export class Heir extends Base { shrink() {} }
=== c.ts
import { Heir } from './b';
const heir = new Heir(1);
heir.grow();
heir.shrink();
=== d.ts
import { Alarm } from './a';
export const late = (alarm: Alarm) => { alarm.ring(); return alarm.now(); };
";
    assert_eq!(
        referrers(files, "a.ts", "Base"),
        ["b.ts:1 Import", "b.ts:2 Extend", "c.ts:2 Inherited(1)", "c.ts:3 Inherited(0)"]
    );
    assert_eq!(referrers(files, "a.ts", "Clock"), ["d.ts:2 InheritedBeside(0)"]);
}

#[test]
fn a_member_that_is_also_inherited_is_not_missed() {
    let files = "\
=== a.ts
export class Base { run() {} }
export class Heir extends Base { run() {} }
=== b.ts
import { Heir } from './a';
new Heir().run();
";
    assert_eq!(referrers(files, "a.ts", "Heir.run"), ["b.ts:2 Redefine(0)"]);
}

#[test]
fn functions_see_later_definitions_and_their_receiver() {
    let files = "\
=== a.ts
export class Job { stop() {} }
export function start(work: (this: Job, n: number) => void): Job { return new Job(); }
export function plain(work: (n: number) => void): void {}
export const jobs: ((job: Job) => void)[] = [];
=== b.ts
import { jobs, plain, start } from './a';
export function f() {
  const job = start(() => job.stop());
  start(function () { this.stop(); });
  plain(function () { this.stop(); });
  jobs.push((one) => one.stop());
}
";
    assert_eq!(
        referrers(files, "a.ts", "Job.stop"),
        ["b.ts:3 Call(0)", "b.ts:4 Call(0)", "b.ts:5 Call(0)~", "b.ts:6 Call(0)"]
    );
}

#[test]
fn computed_key_may_name_any_member_and_bind_is_no_call() {
    let files = "\
=== a.ts
export interface Map { one: One; two: Two }
export interface One { turn(n: number): void }
export interface Two { twist(): void }
export function get<K extends keyof Map>(key: K): Exclude<Map[K], undefined> { throw key; }
=== b.ts
import { get, One } from './a';
get('one').turn(1);
export const f = (one: One) => one.turn.bind(one);
";
    assert_eq!(referrers(files, "a.ts", "One.turn"), ["b.ts:2 Call(1)", "b.ts:3 Type"]);
}

#[test]
fn callback_typed_by_a_result_breaks_with_it() {
    let files = "\
=== a.ts
export class Sink<T> { put(value: T) {} }
=== b.ts
import { Sink } from './a';
export function sink<T>(each: (value: T) => void): Sink<T> { throw each; }
export function told<T>(first: T, each: (value: T) => void): Sink<T> { throw each; }
=== c.ts
import { sink, told } from './b';
export function all<T>(items: T[], anything: any[], test: (value: T) => boolean) {
  let last: T;
  sink((one) => items.push(one));
  sink((one) => test(one));
  sink((one) => { last = one; });
  sink((one) => anything.push(one));
  told(items[0], (one) => items.push(one));
  const cell = new Cell<T>();
  sink((one) => cell.set(one));
  sink((one) => new Cell(one));
}
class Cell<T> { constructor(value?: T) {} set(value: T) {} }
";
    let lines = [
        "b.ts:1 Import",
        "b.ts:2 Type",
        "b.ts:3 Type",
        "c.ts:4 Inherited",
        "c.ts:5 Inherited",
        "c.ts:6 Inherited",
        "c.ts:10 Inherited",
    ];
    assert_eq!(referrers(files, "a.ts", "Sink"), lines);
}

#[test]
fn a_type_without_a_name_is_known_by_its_variable() {
    let files = "\
=== a.ts
export interface Plugin { load(n: number): void }
const plugins: { one?: Plugin } = {};
type Plugins = typeof plugins;
export function add<K extends keyof Plugins>(key: K, plugin: Plugins[K]): void {}
=== b.ts
import { add } from './a';
add('one', { load: (n) => {} });
";
    assert_eq!(referrers(files, "a.ts", "Plugin.load"), ["b.ts:2 Construct"]);
}

#[test]
fn receiver_must_match_the_declared_this_type() {
    let files = "\
=== a.ts
export interface Action { plan(n: number): void }
=== b.ts
import { Action } from './a';
export class Task {
  constructor(protected work: (this: Action) => void) {}
  plan(n: number) {}
  run() { this.work(); }
}
";
    assert_eq!(referrers(files, "a.ts", "Action.plan"), ["b.ts:5 Implement"]);
}
