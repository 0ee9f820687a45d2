//! Everyday edits, chosen by a seed.

use lockstep_refs::facts::{Definition, DefinitionKind};
use lockstep_refs::language::Language;
use lockstep_refs::world::{World, parent};

use super::checkout::{Change, Checkout};
use super::source::{self, Parameters};
use super::truth::Judge;
use super::{construction, documents};
use crate::bench::ground_truth::SplitMix64;

/// A kind of edit, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    RenameFunction,
    RenameMethod,
    RenameType,
    RenameField,
    RenameConstant,
    RenameVariant,
    RenameMacro,
    RenameSkill,
    RenameHeading,
    AddParameter,
    RemoveParameter,
    ReorderParameters,
    RenameParameter,
    AddOptionalParameter,
    WidenParameter,
    BodyOnly,
    CommentOnly,
    CompleteRename,
    HalfWritten,
    MoveFile,
    MoveDirectory,
    DeleteFile,
    DeleteFunction,
    AddRequiredMethod,
    AddVariant,
    Manifest,
}

impl Kind {
    /// The kinds that change one definition.
    const OF_DEFINITIONS: [Self; 19] = [
        Self::RenameFunction,
        Self::RenameMethod,
        Self::RenameType,
        Self::RenameField,
        Self::RenameConstant,
        Self::AddParameter,
        Self::RemoveParameter,
        Self::ReorderParameters,
        Self::RenameParameter,
        Self::AddOptionalParameter,
        Self::WidenParameter,
        Self::BodyOnly,
        Self::CommentOnly,
        Self::HalfWritten,
        Self::RenameVariant,
        Self::RenameMacro,
        Self::DeleteFunction,
        Self::AddRequiredMethod,
        Self::AddVariant,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::RenameFunction => "rename of a function",
            Self::RenameMethod => "rename of a method",
            Self::RenameType => "rename of a type",
            Self::RenameField => "rename of a field",
            Self::RenameConstant => "rename of a constant",
            Self::RenameVariant => "rename of an enum variant",
            Self::RenameMacro => "rename of a macro",
            Self::RenameSkill => "rename of a skill",
            Self::RenameHeading => "rename of a heading",
            Self::AddParameter => "required parameter added",
            Self::RemoveParameter => "parameter removed",
            Self::ReorderParameters => "parameters reordered",
            Self::RenameParameter => "parameter renamed",
            Self::AddOptionalParameter => "optional parameter added",
            Self::WidenParameter => "wider type of a parameter",
            Self::BodyOnly => "body only",
            Self::CommentOnly => "comment only",
            Self::CompleteRename => "complete rename",
            Self::HalfWritten => "half-written file",
            Self::MoveFile => "file moved",
            Self::MoveDirectory => "directory moved",
            Self::DeleteFile => "file deleted",
            Self::DeleteFunction => "function deleted",
            Self::AddRequiredMethod => "method added to an interface",
            Self::AddVariant => "enum variant added",
            Self::Manifest => "manifest",
        }
    }

    fn fits(self, definition: &Definition) -> bool {
        use DefinitionKind::{Field, Function, Interface, Macro, Method, Type, Value, Variant};
        let kind = definition.kind;
        match self {
            Self::RenameFunction => kind == Function,
            Self::RenameMethod => kind == Method,
            Self::RenameType => matches!(kind, Type | Interface),
            Self::RenameField => kind == Field,
            Self::RenameConstant => kind == Value,
            Self::RenameVariant => kind == Variant,
            Self::RenameMacro => kind == Macro,
            Self::AddRequiredMethod => kind == Interface,
            Self::AddVariant => kind == Type,
            Self::CommentOnly | Self::HalfWritten => definition.container.is_none(),
            _ => matches!(kind, Function | Method),
        }
    }

    pub(super) fn is_rename(self) -> bool {
        matches!(
            self,
            Self::RenameFunction
                | Self::RenameMethod
                | Self::RenameType
                | Self::RenameField
                | Self::RenameConstant
                | Self::RenameVariant
                | Self::RenameMacro
        )
    }

    /// Returns true if such an edit breaks nothing in any language. A renamed parameter is judged by its
    /// callers.
    pub(super) fn is_harmless(self) -> bool {
        matches!(
            self,
            Self::BodyOnly | Self::CommentOnly | Self::CompleteRename | Self::HalfWritten | Self::Manifest
        )
    }
}

#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) kind: Kind,
    pub(super) what: String,
    /// The file that is edited, under its former path.
    pub(super) file: String,
    pub(super) changes: Vec<Change>,
    /// The former and the present name.
    pub(super) rename: Option<(String, String)>,
    pub(super) definition: Option<Definition>,
}

impl Edit {
    /// The rename with all its uses.
    pub(super) fn complete(edit: &Self, changes: Vec<Change>) -> Self {
        Self { kind: Kind::CompleteRename, changes, ..edit.clone() }
    }
}

/// The edits of a checkout: `cases` of every kind.
pub(super) fn choose(checkout: &Checkout, judge: &Judge<'_>, seed: u64, cases: usize) -> Vec<Edit> {
    let has_checker = judge.has_checker();
    let mut random = SplitMix64(seed);
    if checkout.language == Language::Markdown {
        return documents::choose(checkout, &mut random, cases);
    }
    let mut edits = Vec::new();
    let mut candidates = candidates(checkout, has_checker);
    candidates.retain(|(path, _)| judge.sees(path));
    for kind in Kind::OF_DEFINITIONS {
        // Without a checker it is not known which types must have the member.
        if !has_checker && matches!(kind, Kind::AddRequiredMethod | Kind::AddVariant) {
            continue;
        }
        let fitting = candidates.iter().filter(|(_, definition)| kind.fits(definition)).collect();
        let edits_of_kind = shuffle(fitting, &mut random).into_iter();
        edits.extend(
            edits_of_kind
                .filter_map(|(file, definition)| edit_definition(checkout, kind, file, definition))
                .take(cases),
        );
    }
    edits.extend(choose_files(checkout, has_checker, &mut random, cases));
    edits.extend(documents::bump_manifest(checkout));
    edits
}

/// The definitions that something in the repository seems to use. Without a checker only those whose name is nowhere else's.
fn candidates(checkout: &Checkout, has_checker: bool) -> Vec<(String, Definition)> {
    let mut found = Vec::new();
    for (path, text) in checkout.texts.iter().filter(|(path, _)| checkout.is_source(path)) {
        let facts = checkout.world.find(path).and_then(|file| checkout.world.facts(file));
        for definition in facts.iter().flat_map(|facts| &facts.definitions) {
            let word = &definition.name;
            let is_word =
                word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let is_used = is_word
                && (source::find_words(text, word).len() > 1 || checkout.world.containing(word).len() > 1);
            if is_used && (has_checker || construction::is_unique(checkout, word)) {
                found.push((path.clone(), definition.clone()));
            }
        }
    }
    found
}

pub(super) fn shuffle<T>(items: Vec<T>, random: &mut SplitMix64) -> Vec<T> {
    let mut keyed: Vec<(u64, T)> = items.into_iter().map(|item| (random.next(), item)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, item)| item).collect()
}

fn edit_definition(checkout: &Checkout, kind: Kind, file: &str, definition: &Definition) -> Option<Edit> {
    let text = checkout.texts.get(file)?;
    let language = checkout.language;
    let new_name = new_name(&definition.name);
    let new = match kind {
        // The language gives such a name its meaning.
        _ if kind.is_rename()
            && (definition.name.starts_with("__")
                || matches!(&*definition.name, "constructor" | "default")) =>
        {
            return None;
        }
        _ if kind.is_rename() => {
            (!needs_another_file(checkout, file, definition)).then_some(())?;
            source::rename_definition(text, definition, &new_name)?
        }
        Kind::BodyOnly => source::change_body(text, definition, language)?,
        Kind::CommentOnly => source::insert_before(text, definition, source::comment(language)),
        Kind::HalfWritten => source::insert_before(text, definition, source::unfinished(language)?),
        Kind::DeleteFunction => source::delete(text, definition)?,
        Kind::AddRequiredMethod => source::add_member(text, definition, source::required_method(language)?)?,
        Kind::AddVariant => {
            source::is_enum(text, definition).then_some(())?;
            source::add_member(text, definition, source::variant(language)?)?
        }
        _ => change_parameters(kind, text, definition, language)?,
    };
    let container =
        definition.container.as_deref().map(|container| format!("{container}.")).unwrap_or_default();
    Some(Edit {
        kind,
        what: format!("{container}{} of {file}:{}", definition.name, definition.line),
        file: file.to_owned(),
        changes: vec![Change::Write { path: file.to_owned(), text: new }],
        rename: kind.is_rename().then(|| (definition.name.to_string(), new_name)),
        definition: Some(definition.clone()),
    })
}

/// Returns an unused name of the same style.
fn new_name(name: &str) -> String {
    let is_snake =
        name.contains('_') || name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    match name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        false => format!("{name}_WALKED"),
        true if is_snake => format!("{name}_walked"),
        true => format!("{name}Walked"),
    }
}

/// Java wants a public class in the file of its name, and a constructor with the name of its class.
fn needs_another_file(checkout: &Checkout, file: &str, definition: &Definition) -> bool {
    let stem = file.rsplit('/').next().and_then(|name| name.split('.').next());
    let class = definition.container.as_deref().and_then(|path| path.rsplit('.').next());
    matches!(checkout.language, Language::Java)
        && (stem == Some(&definition.name) || class == Some(&definition.name))
}

fn change_parameters(kind: Kind, text: &str, definition: &Definition, language: Language) -> Option<String> {
    let parameters = Parameters::find(text, definition, language)?;
    parameters.are_plain().then_some(())?;
    let mut own = parameters.own.clone();
    match kind {
        Kind::AddParameter => own.insert(0, source::required_parameter(language)?.to_owned()),
        Kind::AddOptionalParameter => {
            // It would no longer be an override.
            let lines = text.get(source::lines_of(text, definition))?;
            (!lines.trim_start().starts_with("override")).then_some(())?;
            own.push(source::optional_parameter(language)?.to_owned());
        }
        Kind::RemoveParameter => {
            let name = source::parameter_name(&own.pop()?, language)?;
            let lines = text.get(source::lines_of(text, definition))?;
            // An edit that leaves uses of the parameter in the body would not be realistic.
            (source::find_words(lines, &name).len() == 1).then_some(())?;
        }
        Kind::ReorderParameters => {
            (own.len() >= 2).then_some(())?;
            let names = [0, 1].map(|at| source::parameter_name(&own[at], language));
            let [Some(first), Some(second)] = names else { return None };
            // Swapping two parameters of one type would not be detected.
            (own[0].trim().replace(&first, "") != own[1].trim().replace(&second, "")).then_some(())?;
            own.swap(0, 1);
        }
        Kind::WidenParameter => {
            let last = own.last_mut()?;
            *last = source::widen(last, language)?;
        }
        Kind::RenameParameter => {
            let name = source::parameter_name(own.last()?, language)?;
            // The function would get the new name too.
            (name != *definition.name).then_some(())?;
            // A parameter of Swift with one name is known to callers by it.
            let is_label =
                language == Language::Swift && !own.last()?.split(':').next()?.trim().contains(' ');
            (!is_label).then_some(())?;
            let range = source::lines_of(text, definition);
            let lines = source::replace_words(text.get(range.clone())?, &name, &new_name(&name));
            return Some(format!("{}{lines}{}", &text[..range.start], &text[range.end..]));
        }
        _ => return None,
    }
    Some(parameters.rewrite(text, &own, language))
}

/// Moves and deletions of source files. Without a checker only moves in languages in which the path of a file means nothing.
fn choose_files(checkout: &Checkout, has_checker: bool, random: &mut SplitMix64, cases: usize) -> Vec<Edit> {
    let is_path_free = matches!(checkout.language, Language::CSharp | Language::Kotlin | Language::Swift);
    if !has_checker && !is_path_free {
        return Vec::new();
    }
    let sources: Vec<&String> = checkout.texts.keys().filter(|path| checkout.is_source(path)).collect();
    let sources = shuffle(sources, random);
    let mut edits = Vec::new();
    for path in sources.iter().take(cases) {
        edits.push(file_edit(Kind::MoveFile, path, Change::Move { from: (*path).clone(), to: beside(path) }));
    }
    if !has_checker {
        return edits;
    }
    for path in sources.iter().skip(cases).take(cases) {
        edits.push(file_edit(Kind::DeleteFile, path, Change::Delete { path: (*path).clone() }));
    }
    let mut directories: Vec<&str> =
        sources.iter().map(|path| parent(path)).filter(|path| path.contains('/')).collect();
    directories.dedup();
    for directory in directories.into_iter().take(cases) {
        let to = format!("{directory}_walked");
        edits.push(file_edit(
            Kind::MoveDirectory,
            directory,
            Change::Move { from: directory.to_owned(), to },
        ));
    }
    edits
}

pub(super) fn file_edit(kind: Kind, path: &str, change: Change) -> Edit {
    Edit {
        kind,
        what: path.to_owned(),
        file: path.to_owned(),
        changes: vec![change],
        rename: None,
        definition: None,
    }
}

/// Another path in the same directory.
pub(super) fn beside(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').map_or(("", path), |(directory, name)| (directory, name));
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let slash = if directory.is_empty() { "" } else { "/" };
    // The endings `_test.go` and `_linux.go` have a meaning.
    format!("{directory}{slash}walked_{stem}.{ending}")
}
