//! `using static`: members of a type without the type before them.

use crate::fixture::{breaking, referrers};

const FILES: &str = "\
=== Lib/Tools.cs
namespace Lib;
public static class Tools
{
    public const int Limit = 3;
    public static string Name { get; set; }
    public static int Twice(int n) => n * 2;
    public static Made Make() => new Made();
    public class Made { public int Size() => 1; }
}
=== Lib/Base.cs
namespace Lib { public class Base { public static int Thrice(int n) => n * 3; } }
=== App/One.cs
using static Lib.Tools;
namespace App;
class One { int Run() => Twice(Limit) + Name.Length + Make().Size(); Made made; }
=== App/Two.cs
global using static Lib.Base;
=== App/Three.cs
namespace App { using static Lib.Tools; class Three { int Run() { return Twice(1) + Thrice(2); } } }
=== App/Alias.cs
using T = Lib.Tools;
class Four { int Run() => T.Twice(1); }
=== App/Other.cs
class Other { int Twice(int n) => n; int Run() => Twice(1); }
";

#[test]
fn members_of_a_type_that_is_opened_are_named_alone() {
    assert_eq!(
        referrers(FILES, "Lib/Tools.cs", "Tools.Twice"),
        ["App/Alias.cs:2 Call(1)", "App/One.cs:3 Call(1)", "App/Three.cs:1 Call(1)"]
    );
    assert_eq!(referrers(FILES, "Lib/Tools.cs", "Tools.Limit"), ["App/One.cs:3 Value"]);
    assert_eq!(referrers(FILES, "Lib/Tools.cs", "Tools.Name"), ["App/One.cs:3 Value"]);
    assert_eq!(referrers(FILES, "Lib/Tools.cs", "Tools.Made"), ["App/One.cs:3 Type"]);
    assert_eq!(referrers(FILES, "Lib/Tools.cs", "Tools.Made.Size"), ["App/One.cs:3 Call(0)"]);
    assert_eq!(referrers(FILES, "Lib/Base.cs", "Lib.Base.Thrice"), ["App/Three.cs:1 Call(1)"]);
    assert_eq!(
        breaking(FILES, "Lib/Tools.cs", "Twice", "Double"),
        ["App/Alias.cs", "App/One.cs", "App/Three.cs"]
    );
}

#[test]
fn a_type_that_is_opened_is_missed_by_who_opens_it() {
    assert_eq!(
        breaking(FILES, "Lib/Tools.cs", "class Tools", "class Gear"),
        ["App/Alias.cs", "App/One.cs", "App/Three.cs"]
    );
}

#[test]
fn a_static_method_of_a_standard_class_is_not_ours() {
    let files = "\
=== Kit.cs
namespace Core;
public class Kit { public static int Max(int a, int b) { return a; } }
=== Use.cs
using System;
namespace Core;
public class Use { int Run() { return Math.Max(1, 2); } }
=== Own.cs
namespace Core;
public class Own { int Run() { return Kit.Max(1, 2); } }
";
    assert_eq!(breaking(files, "Kit.cs", "int Max", "int Most"), ["Own.cs"]);
}
