//! Kotlin, C#, PHP, Swift and Ruby.

use super::check;

const KOTLIN: &str = r#"
=== core/Kit.kt
package core

open class Kit {
    open fun load(id: Int): Any = 1
}

fun send(name: String, count: Int, items: List<String>): String? = null

fun mark(from: Int, to: Int) {}
=== core/Use.kt
package core

fun run(kit: Kit): String? {
    kit.load(1)
    mark(from = 1, to = 2)
    return send("a", 1, listOf())
}
"#;

#[test]
fn kotlin() {
    check(
        KOTLIN,
        "core/Kit.kt",
        &[
            ("name: String, count: Int", "title: String, number: Int", "fits"),
            ("name: String", "name: String?", "fits"),
            ("name: String", "name: CharSequence", "fits"),
            ("items: List<String>", "items: Collection<String>", "fits"),
            ("items: List<String>", "items: List<String>, more: Int = 1", "fits"),
            ("items: List<String>", "items: List<String> = listOf()", "fits"),
            ("fun send", "@Deprecated(\"x\") fun send", "fits"),
            ("String? =", "String =", "fits"),
            ("open fun load", "fun load", "fits"),
            ("to: Int", "to: Int?", "fits"),
            ("from: Int", "start: Int", "breaks"),
            ("name: String, ", "", "breaks"),
            ("name: String", "name: Boolean", "breaks"),
            ("items: List<String>", "items: List<String>, more: Int", "breaks"),
            ("name: String, count: Int", "count: Int, name: String", "breaks"),
            ("fun send", "suspend fun send", "breaks"),
            ("count: Int", "count: String", "breaks"),
            ("id: Int", "id: Int, more: Int", "breaks"),
            ("name: String", "name: Name", "possible"),
            ("count: Int", "count: Long", "possible"),
        ],
    );
}

const CSHARP: &str = r#"
=== Kit.cs
namespace Core;
public class Kit {
    public static string Send(string name, int count, List<string> items) { return null; }
    public void Mark(int from, int to) {}
}
=== Use.cs
namespace Core;
public class Use {
    string Run(Kit kit) { kit.Mark(from: 1, to: 2); return Kit.Send("a", 1, null); }
}
"#;

#[test]
fn csharp() {
    check(
        CSHARP,
        "Kit.cs",
        &[
            ("string name, int count", "string title, int number", "fits"),
            ("string name", "string? name", "fits"),
            ("string name", "object name", "fits"),
            ("int count", "long count", "fits"),
            ("List<string> items", "IEnumerable<string> items", "fits"),
            ("List<string> items", "List<string> items, int more = 1", "fits"),
            ("public static string", "[Obsolete] public static string", "fits"),
            ("public void Mark", "public virtual void Mark", "fits"),
            ("public void Mark", "public bool Mark", "fits"),
            ("int from", "int start", "breaks"),
            ("string name, ", "", "breaks"),
            ("string name", "bool name", "breaks"),
            ("List<string> items", "List<string> items, int more", "breaks"),
            ("string name, int count", "int count, string name", "breaks"),
            ("string name", "ref string name", "breaks"),
            ("public static string", "public string", "breaks"),
            ("static string", "static int", "breaks"),
            ("string name", "Name name", "possible"),
        ],
    );
}

const PHP: &str = r#"
=== src/Kit.php
<?php
namespace App;
class Kit {
    public function send(string $name, int $count, array $items): ?string { return null; }
    public function mark(int $from, int $to) {}
}
=== src/Use.php
<?php
namespace App;
class User {
    public function run(Kit $kit) { $kit->mark(from: 1, to: 2); return $kit->send("a", 1, []); }
}
"#;

#[test]
fn php() {
    check(
        PHP,
        "src/Kit.php",
        &[
            ("string $name, int $count", "string $title, int $number", "fits"),
            ("string $name", "?string $name", "fits"),
            ("string $name", "string|int $name", "fits"),
            ("string $name", "mixed $name", "fits"),
            ("string $name", "$name", "fits"),
            ("int $count", "float $count", "fits"),
            ("array $items", "array $items, int $more = 1", "fits"),
            ("): ?string", "): string", "fits"),
            ("public function send", "final public function send", "fits"),
            ("int $from", "int $start", "breaks"),
            ("string $name, ", "", "breaks"),
            ("array $items", "array $items, int $more", "breaks"),
            ("string $name, int $count", "int $count, string $name", "breaks"),
            ("string $name", "array $name", "breaks"),
            ("string $name", "Name $name", "possible"),
        ],
    );
}

const SWIFT: &str = r#"
=== Sources/Core/Kit.swift
public class Kit {
    public init() {}
    public func send(_ name: String, to count: Int, items: [String]) throws -> String? { return nil }
}
public func mark(_ from: Int) {}
=== Sources/Core/Use.swift
func run(kit: Kit) throws -> String? {
    mark(1)
    return try kit.send("a", to: 1, items: [])
}
"#;

#[test]
fn swift() {
    check(
        SWIFT,
        "Sources/Core/Kit.swift",
        &[
            ("_ name: String", "_ title: String", "fits"),
            ("to count: Int", "to number: Int", "fits"),
            ("_ name: String", "_ name: String?", "fits"),
            ("items: [String]", "items: [String] = []", "fits"),
            ("items: [String])", "items: [String], more: Int = 1)", "fits"),
            ("public func send", "@discardableResult public func send", "fits"),
            ("throws -> String?", "-> String?", "fits"),
            ("-> String?", "-> String", "fits"),
            ("_ name: String", "name: String", "breaks"),
            ("to count: Int", "for count: Int", "breaks"),
            ("_ name: String, ", "", "breaks"),
            ("items: [String])", "items: [String], more: Int)", "breaks"),
            ("_ name: String", "_ name: Bool", "breaks"),
            ("mark(_ from: Int)", "mark(_ from: Int) throws", "breaks"),
            ("mark(_ from: Int)", "mark(_ from: Int) async", "breaks"),
            ("_ name: String", "_ name: Name", "possible"),
        ],
    );
}

const RUBY: &str = r#"
=== lib/kit.rb
class Kit
  def send_mail(name, count, deep: false)
  end

  def mark(from:, to:)
  end
end
=== lib/use.rb
require_relative "kit"
class User
  def run
    kit = Kit.new
    kit.send_mail("a", 1)
    kit.mark(from: 1, to: 2)
  end
end
"#;

#[test]
fn ruby() {
    check(
        RUBY,
        "lib/kit.rb",
        &[
            ("name, count", "title, number", "fits"),
            ("name, count", "name, count = 1", "fits"),
            ("deep: false", "deep: true", "fits"),
            ("deep: false", "deep: false, more: 1", "fits"),
            ("name, count", "name, count, *rest", "fits"),
            ("name, count", "name, count, extra", "breaks"),
            ("name, count", "name", "breaks"),
            ("from:, to:", "start:, to:", "breaks"),
        ],
    );
}
