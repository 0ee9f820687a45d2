//! Classification of changed definitions.

use super::*;

fn definition(name: &str, container: Option<&str>, kind: DefinitionKind, digests: (u64, u64)) -> Definition {
    Definition {
        name: name.into(),
        kind,
        container: container.map(Into::into),
        reach: Reach::Everyone,
        line: 1,
        end_line: 1,
        signature: digests.0,
        body: digests.1,
        header: Box::default(),
        arity: Some(Arity { least: 1, most: Some(1) }),
        parameters: Vec::new(),
        gives: None,
        extends: Vec::new(),
    }
}

fn function(name: &str, digests: (u64, u64)) -> Definition {
    definition(name, None, DefinitionKind::Function, digests)
}

fn facts(definitions: Vec<Definition>) -> Facts {
    Facts { definitions, ..Facts::none(Language::Text) }
}

fn words(old: Vec<Definition>, new: Vec<Definition>) -> Vec<(String, DefinitionChangeKind)> {
    let changes = compare(&facts(old), &facts(new));
    changes.into_iter().map(|change| (change.was.name.to_string(), change.what)).collect()
}

#[test]
fn nothing_changed() {
    assert_eq!(words(vec![function("a", (1, 1))], vec![function("a", (1, 1))]), []);
}

/// Formatters change quotes, spaces and the comma at the end of a list.
#[test]
fn formatted_definitions_are_unchanged() {
    let changed = |path: &str, old: &str, new: &str| {
        let facts = |text: &str| crate::language::facts(path, text);
        !compare(&facts(old), &facts(new)).is_empty()
    };
    for (path, old, new) in [
        (
            "a.py",
            "x={'a':1,\n 'b':f'2'}\ndef k(a, b='c'): return [a, b]\n",
            "x = {\n    \"a\": 1,\n    \"b\": f\"2\",\n}\n\n\ndef k(\n    a,\n    b=\"c\",\n):\n    return [\n        a,\n        b,\n    ]\n",
        ),
        (
            "a.ts",
            "export const x = { a: 'b', c: ['d'] };\nexport function k(a: string, b = 'c') { return g(a, b); }\n",
            "export const x = {\n  a: \"b\",\n  c: [\"d\"],\n};\nexport function k(\n  a: string,\n  b = \"c\",\n) {\n  return g(\n    a,\n    b,\n  );\n}\n",
        ),
        (
            "a.rs",
            "pub fn k(a: u8, b: u8) -> u8 { g(a, b) }\n",
            "pub fn k(\n    a: u8,\n    b: u8,\n) -> u8 {\n    g(\n        a,\n        b,\n    )\n}\n",
        ),
    ] {
        assert!(!changed(path, old, new), "{new}");
    }
    for (path, old, new) in [
        ("a.py", "x = (1,)\n", "x = (1)\n"),
        ("a.py", "x = 'a'\n", "x = 'b'\n"),
        ("a.js", "export const x = [1, , ];\n", "export const x = [1, ];\n"),
        ("a.c", "const char *x = \"a\";\n", "const char *x = 'a';\n"),
    ] {
        assert!(changed(path, old, new), "{new}");
    }
}

#[test]
fn each_kind_of_change_is_distinguished() {
    let old =
        vec![function("a", (1, 1)), function("b", (2, 2)), function("c", (3, 3)), function("d", (4, 4))];
    let new =
        vec![function("a", (1, 9)), function("b", (9, 2)), function("cc", (8, 3)), function("e", (7, 7))];
    assert_eq!(
        words(old, new),
        [
            ("a".to_owned(), DefinitionChangeKind::BodyChanged),
            (
                "b".to_owned(),
                DefinitionChangeKind::SignatureChanged {
                    arity: Some(Arity { least: 1, most: Some(1) }),
                    beyond_arity: true,
                    unused_type_param: false,
                    effect: None,
                }
            ),
            ("c".to_owned(), DefinitionChangeKind::Renamed("cc".into())),
            ("d".to_owned(), DefinitionChangeKind::Removed),
        ]
    );
}

#[test]
fn file_private_definitions_have_no_dependents() {
    let private = Definition { reach: Reach::File, ..function("a", (1, 1)) };
    assert_eq!(words(vec![private.clone()], vec![]), []);
    let public = function("a", (1, 1));
    assert_eq!(
        words(vec![public], vec![private]),
        [("a".to_owned(), DefinitionChangeKind::VisibilityReduced)]
    );
}

#[test]
fn a_renamed_type_takes_its_members_with_it() {
    use DefinitionKind::{Method, Type};
    let old = vec![definition("A", None, Type, (1, 1)), definition("m", Some("A"), Method, (2, 2))];
    let new = vec![definition("B", None, Type, (1, 1)), definition("m", Some("B"), Method, (2, 2))];
    assert_eq!(words(old, new), [("A".to_owned(), DefinitionChangeKind::Renamed("B".into()))]);
}

#[test]
fn a_type_is_gone_although_a_member_of_another_has_its_name() {
    use DefinitionKind::{Interface, Method, Type};
    let consumer = [
        definition("Consumer", None, Interface, (1, 1)),
        definition("Folder", Some("Consumer"), Type, (2, 2)),
    ];
    let with = |name: &str| {
        let own = [definition(name, None, Interface, (3, 3)), definition("m", Some(name), Method, (4, 4))];
        consumer.iter().cloned().chain(own).collect()
    };
    assert_eq!(
        words(with("Folder"), with("Fold")),
        [("Folder".to_owned(), DefinitionChangeKind::Renamed("Fold".into()))]
    );
    assert_eq!(
        words(with("Folder"), consumer.to_vec()),
        [("Folder".to_owned(), DefinitionChangeKind::Removed)]
    );
}

#[test]
fn a_call_may_fit_an_overload_that_stayed() {
    let with = |signature: u64, least: u16, most: u16| Definition {
        arity: Some(Arity { least, most: Some(most) }),
        ..function("f", (signature, 1))
    };
    let changes =
        compare(&facts(vec![with(1, 1, 1), with(2, 1, 2)]), &facts(vec![with(9, 2, 2), with(2, 1, 2)]));
    assert_eq!(
        changes.into_iter().map(|candidate| candidate.what).collect::<Vec<_>>(),
        [DefinitionChangeKind::SignatureChanged {
            arity: Some(Arity { least: 1, most: Some(2) }),
            beyond_arity: false,
            unused_type_param: false,
            effect: None,
        }]
    );
}

#[test]
fn a_parameter_that_must_be_given_shifts_those_that_need_not() {
    let was = Definition { arity: Some(Arity { least: 1, most: Some(2) }), ..function("f", (1, 1)) };
    let now = Arity { least: 2, most: Some(3) };
    let what = DefinitionChangeKind::SignatureChanged {
        arity: Some(now),
        beyond_arity: false,
        unused_type_param: false,
        effect: None,
    };
    let change = SymbolChange { was, what };
    assert!(change.reorders_arguments(now, 2));
    assert!(!change.reorders_arguments(Arity { least: 1, most: Some(3) }, 2));
}

#[test]
fn overloads_are_compared_with_their_like() {
    let old = vec![function("f", (1, 1)), function("f", (2, 2))];
    let new = vec![function("f", (2, 3)), function("f", (1, 1))];
    assert_eq!(words(old, new), [("f".to_owned(), DefinitionChangeKind::BodyChanged)]);
}
