//! Values: objects that hold all of others, types with members of any name, and what is taken for anything.

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
fn what_is_taken_for_anything_may_take_what_it_likes() {
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
=== d.ts
import { work } from './a';
export function run(job: (n: number) => void) {}
run(work);
";
    assert_eq!(breaking(files, "a.ts", "n: number", "key: symbol, n: number"), ["d.ts"]);
    assert_eq!(breaking(files, "a.ts", "work", "toil"), ["b.ts", "c.ts", "d.ts"]);
}
