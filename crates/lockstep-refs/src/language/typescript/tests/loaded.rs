//! Modules that are loaded at run time, or named in a type.

use crate::fixture::{breaking, outgoing, referrers};

#[test]
fn types_are_taken_from_modules_where_they_are_named() {
    let files = "\
=== p.ts
export interface Props { label: string; size?: number }
export function make(n: number): Props { throw n; }
export class Box<T> { open(): T { throw this; } }
export namespace deep { export interface Inner { at: number } }
=== b.ts
export function show(props: import('./p').Props) { return props.label; }
let module: typeof import('./p');
module.make(1);
export const made: ReturnType<typeof import('./p').make> = module.make(2);
made.size;
export type Both = Array<import('./p').Props>;
export const inner = (it: import('./p').deep.Inner) => it.at;
export const open = (box: import('./p').Box<number>) => box.open();
";
    assert_eq!(referrers(files, "p.ts", "Props"), ["b.ts:1 Type", "b.ts:6 Type"]);
    assert_eq!(referrers(files, "p.ts", "Props.label"), ["b.ts:1 Value"]);
    assert_eq!(referrers(files, "p.ts", "Props.size"), ["b.ts:5 Value"]);
    assert_eq!(referrers(files, "p.ts", "Box"), ["b.ts:8 Type"]);
    assert_eq!(referrers(files, "p.ts", "make"), ["b.ts:3 Call(1)", "b.ts:4 Value", "b.ts:4 Call(1)"]);
    assert_eq!(referrers(files, "p.ts", "deep.Inner"), ["b.ts:7 Type"]);
    assert_eq!(referrers(files, "p.ts", "deep.Inner.at"), ["b.ts:7 Value"]);
    assert_eq!(outgoing(files, "b.ts").1, [""; 0]);
}

#[test]
fn modules_are_used_where_they_are_loaded() {
    let files = "\
=== lib/m.ts
export function x(n: number) {}
export class C { m() {} }
export default class D { d() {} }
=== lib/a.ts
import('./m').then(m => m.x(1));
import('./m').then((m) => { m.x(2); });
import('./m').then(({ x }) => x(3));
import('./m').then(({ x: y, default: D }) => { y(4); new D().d(); });
import('./m').then(function (m) { new m.C().m(); });
export const lazy = () => import('./m');
lazy().then(m => m.x(5));
export const picked = import('./m').then(m => m.C);
export async function f() {
  (await import('./m')).x(6);
  const all = import('./m');
  (await all).x(7);
  const [one] = await Promise.all([import('./m')]);
  one.x(8);
}
=== lib/b.js
require('./m').x(1);
const x = require('./m').x;
x(2);
const { x: y } = require('./m');
y(3);
const made = new (require('./m').C)();
made.m();
function f() {
  const { x } = require('./m');
  x(4);
  const m = require('./m');
  m.x(5);
}
";
    let numbers = |file: &str, lines: &[u32]| -> Vec<String> {
        lines.iter().map(|line| format!("{file}:{line} Call(1)")).collect()
    };
    let found = referrers(files, "lib/m.ts", "x");
    for expected in
        [numbers("lib/a.ts", &[1, 2, 3, 4, 7, 10, 12, 14]), numbers("lib/b.js", &[1, 5, 10, 12])].concat()
    {
        assert!(found.contains(&expected), "{expected}: {found:#?}");
    }
    assert_eq!(referrers(files, "lib/m.ts", "C.m"), ["lib/a.ts:5 Call(0)", "lib/b.js:7 Call(0)"]);
    assert_eq!(referrers(files, "lib/m.ts", "D.d"), ["lib/a.ts:4 Call(0)"]);
}

#[test]
fn exported_object_has_its_written_members() {
    let files = "\
=== a.js
function one() {}
module.exports = { one, two() {}, three: (n) => n, four: 4, 'five': { deep: 5 }, six: one };
=== b.js
const { one, two } = require('./a');
two();
=== c.js
const a = require('./a');
a.three(1);
=== d.js
const a = require('./a');
a.four + a.five.deep;
=== e.js
const { six } = require('./a');
six();
";
    assert_eq!(breaking(files, "a.js", "two()", "zwei()"), ["b.js"]);
    assert_eq!(breaking(files, "a.js", "three:", "drei:"), ["c.js"]);
    assert_eq!(breaking(files, "a.js", "three: (n)", "three: (m, n)"), ["c.js"]);
    assert_eq!(breaking(files, "a.js", "four: 4", "vier: 4"), ["d.js"]);
    assert_eq!(breaking(files, "a.js", "six:", "sechs:"), ["e.js"]);
}
