//! Added, removed and changed parameters, and the places that they break.

use crate::fixture::breaking;

const FILES: &str = "\
=== a.ts
export function f(a: number): string { return ''; }
export const arrow = (a: number): string => '';
export class C {
  constructor(a: number) {}
  m(a: number): string { return ''; }
}
=== call.ts
import { f } from './a';
f(1);
=== arrow.ts
import { arrow } from './a';
arrow(1);
=== method.ts
import { C } from './a';
export const m = (c: C) => c.m(1);
=== made.ts
import { C } from './a';
new C(1);
=== value.ts
import { f } from './a';
export const all = [1].map((n) => [f].length);
";

#[test]
fn new_optional_parameter_breaks_nothing() {
    for (from, to) in [
        ("f(a: number)", "f(a: number, b?: string)"),
        ("f(a: number)", "f(a: number, b = '')"),
        ("f(a: number)", "f(a: number, ...rest: string[])"),
        ("arrow = (a: number)", "arrow = (a: number, b?: string)"),
        ("m(a: number)", "m(a: number, b?: string)"),
        ("constructor(a: number)", "constructor(a: number, b?: string)"),
    ] {
        assert_eq!(breaking(FILES, "a.ts", from, to), [""; 0], "{to}");
    }
}

#[test]
fn new_required_or_retyped_parameter_breaks_callers() {
    for (from, to, broken) in [
        ("f(a: number)", "f(a: number, b: string)", &["call.ts", "value.ts"][..]),
        ("f(a: number)", "f(a: string)", &["call.ts", "value.ts"]),
        ("f(a: number)", "f(a: string, b?: string)", &["call.ts", "value.ts"]),
        // The call ignores its result.
        ("f(a: number): string", "f(a: number, b?: string): number", &["value.ts"]),
        ("arrow = (a: number)", "arrow = (a: number, b: string)", &["arrow.ts"]),
        ("m(a: number)", "m(a: number, b: string)", &["method.ts"]),
        ("constructor(a: number)", "constructor(a: number, b: string)", &["made.ts"]),
    ] {
        assert_eq!(breaking(FILES, "a.ts", from, to), broken, "{to}");
    }
}

#[test]
fn contextually_typed_parameter_loses_its_type_with_the_context() {
    let files = "\
=== input.ts
export type Input = (given: { size: number }) => void;
export function direct(input: Input) {}
export function each(list: Given[]) {}
export interface Given { size: number }
=== helpers.ts
import { type Input, type Given } from './input';
export const run = (...inputs: Input[]) => inputs;
export const settle = (options: { ready: Input }) => options;
export const given = (): Given[] => [];
=== a.ts
import { run } from './helpers';
run(({ size }) => size);
=== b.ts
import { settle } from './helpers';
settle({ ready: (it) => it.size });
=== c.ts
import { direct } from './input';
direct((it) => it.size);
=== d.ts
import { run } from './helpers';
run((it: any) => it.size);
=== e.ts
import { given } from './helpers';
given().map((it) => it.size);
";
    assert_eq!(
        breaking(files, "input.ts", "export type Input = (given: { size: number }) => void;", ""),
        ["a.ts", "b.ts", "c.ts", "helpers.ts"]
    );
    assert_eq!(breaking(files, "input.ts", "Input", "Entry"), ["a.ts", "b.ts", "helpers.ts"]);
    // Any type is accepted for the content.
    assert_eq!(breaking(files, "input.ts", "Given", "Handed"), ["helpers.ts"]);
    assert_eq!(breaking(files, "input.ts", "given: { size: number }", "given: { size: number; }"), [""; 0]);
}
