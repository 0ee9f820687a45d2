//! Default exports, which have no name of their own, and their re-exports.

use crate::fixture::{breaking, referrers};

#[test]
fn a_default_export_is_not_known_by_its_name() {
    let files = "\
=== a.ts
export default function alpha(n: number) { return n; }
=== b.ts
import X from './a';
X(1);
=== c.ts
export { default } from './a';
=== d.ts
import alpha from './c';
alpha(1);
=== e.ts
import * as a from './a';
a.default(1);
";
    assert_eq!(breaking(files, "a.ts", "alpha", "beta"), [""; 0]);
    assert_eq!(breaking(files, "a.ts", "n: number", "n: number, m: number"), ["b.ts", "d.ts", "e.ts"]);
    let named = files.replacen("{ return n; }", "{ return n; }\nexport { alpha };", 1)
        + "=== f.ts\nimport { alpha } from './a';\nalpha(1);\n";
    assert_eq!(breaking(&named, "a.ts", "alpha", "beta"), ["f.ts"]);
}

#[test]
fn a_default_class_is_not_known_by_its_name() {
    let files = "\
=== widget.ts
class Widget { size = 0; render(n: number) {} }
export default Widget;
=== a.ts
import W, { type Other } from './widget';
class Heir extends W { go() { this.render(1); } }
new Heir().size;
new W().render(1);
";
    assert_eq!(breaking(files, "widget.ts", "Widget", "Gadget"), [""; 0]);
    assert_eq!(breaking(files, "widget.ts", "render", "paint"), ["a.ts"]);
}

#[test]
fn barrels_reexport_defaults_and_namespaces() {
    let files = "\
=== x.ts
export default function make() {}
export function run(n: number) {}
=== barrel.ts
export { default } from './x';
export { default as Y } from './x';
export * as ns from './x';
import * as all from './x';
export { all };
=== a.ts
import build, { Y, ns } from './barrel';
build();
Y();
ns.run(1);
ns.default();
=== b.ts
import * as barrel from './barrel';
barrel.ns.run(2);
barrel.Y();
barrel.default();
barrel.all.run(3);
=== index.ts
export * from './barrel';
=== c.ts
import { ns as n, Y as Why } from '.';
n.run(4);
Why();
=== d.ts
const { ns } = require('./barrel');
ns.run(5);
";
    assert_eq!(breaking(files, "x.ts", "run", "start"), ["a.ts", "b.ts", "c.ts", "d.ts"]);
    assert_eq!(breaking(files, "x.ts", "make()", "make(n: number)"), ["a.ts", "b.ts", "c.ts"]);
    assert_eq!(
        referrers(files, "x.ts", "run"),
        ["a.ts:4 Call(1)", "b.ts:2 Call(1)", "b.ts:5 Call(1)", "c.ts:2 Call(1)", "d.ts:2 Call(1)"]
    );
    assert_eq!(
        referrers(files, "x.ts", "make"),
        [
            "a.ts:1 Import via barrel.ts",
            "a.ts:2 Call(0) via barrel.ts",
            "a.ts:3 Call(0) via barrel.ts",
            "a.ts:5 Call(0)",
            "b.ts:3 Call(0) via barrel.ts",
            "b.ts:4 Call(0) via barrel.ts",
            "barrel.ts:1 Reexport",
            "barrel.ts:2 Reexport",
            "c.ts:1 Import via barrel.ts",
            "c.ts:3 Call(0) via barrel.ts",
        ]
    );
}

#[test]
fn default_export_is_followed_without_a_name() {
    let files = "\
=== ui/Widget/Widget.ts
export default class Inner { paint(n: number) {} }
=== ui/Widget/index.ts
export { default } from './Widget';
=== ui/index.ts
export { default as Panel } from './Widget';
import W from './Widget';
export { W as Window };
=== app.ts
import { Panel } from './ui';
new Panel(1);
=== other.ts
import { Window } from './ui';
new Window(1);
=== ui/page.ts
import Any from './Widget';
import { Panel } from '.';
new Any(1);
";
    assert_eq!(
        breaking(files, "ui/Widget/Widget.ts", "{ paint", "{ constructor(a: string, b: string) {} paint"),
        [""; 0]
    );
    let files = files.replace("{ paint", "{ constructor(a: number) {} paint");
    assert_eq!(
        breaking(&files, "ui/Widget/Widget.ts", "(a: number)", "(a: number, b: number)"),
        ["app.ts", "other.ts", "ui/page.ts"]
    );
    let lines = [
        "app.ts:1 Import via ui/Widget/index.ts",
        "app.ts:2 Call(1) via ui/Widget/index.ts",
        "other.ts:1 Import via ui/Widget/index.ts",
        "other.ts:2 Call(1) via ui/Widget/index.ts",
        "ui/Widget/index.ts:1 Reexport",
        "ui/index.ts:1 Reexport via ui/Widget/index.ts",
        "ui/index.ts:2 Import via ui/Widget/index.ts",
        "ui/page.ts:1 Import via ui/Widget/index.ts",
        "ui/page.ts:2 Import via ui/Widget/index.ts",
        "ui/page.ts:3 Call(1) via ui/Widget/index.ts",
    ];
    assert_eq!(referrers(&files, "ui/Widget/Widget.ts", "Inner"), lines);
}
