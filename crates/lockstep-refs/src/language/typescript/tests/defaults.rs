//! Default exports: what goes by no name of its own, and who hands it on.

use crate::fixture::breaking;

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
