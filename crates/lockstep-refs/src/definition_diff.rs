//! Compares two contents of a file: the definitions that were removed or renamed, or whose signature or body
//! changed.

mod implicit;

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Arity, Definition, DefinitionKind, Facts, OPTIONAL, Reach, Role, Shape};
use crate::language::Language;
use crate::reference::{Certainty, Reference};
use crate::resolve::path_of;
use crate::signature::{self, Effect, Fit};
use crate::syntax::equal_after_rename;

pub(crate) use implicit::is_implicit;

/// A changed definition of the former content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolChange {
    /// The former definition.
    pub was: Definition,
    pub what: DefinitionChangeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefinitionChangeKind {
    /// The definition can no longer be named.
    Removed,
    /// The definition has another name.
    Renamed(Box<str>),
    /// The signature changed: other parameters, another type, or other members to implement.
    SignatureChanged {
        /// The number of arguments that a call takes now.
        arity: Option<Arity>,
        /// Set if more than the number of arguments changed, as far as the text shows.
        beyond_arity: bool,
        /// Set if the type no longer uses one of its parameters. The compiler then cannot infer that
        /// parameter for values of the type.
        unfounded: bool,
        /// The effect by the parts of both signatures, if they are known.
        effect: Option<Box<Effect>>,
    },
    /// The signature changed, and every use still fits it.
    Compatible,
    /// The change is unknown, because the new content does not parse at the definition.
    Unknown,
    /// Parameters were renamed: only calls that pass arguments by name are affected.
    ParametersRenamed {
        /// The removed names.
        gone: Vec<Box<str>>,
    },
    VisibilityReduced,
    BodyChanged,
}

impl DefinitionChangeKind {
    pub fn new_name(&self) -> Option<&str> {
        match self {
            Self::Renamed(name) => Some(name),
            _ => None,
        }
    }

    /// Returns one word for people and programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Renamed(_) => "renamed",
            Self::SignatureChanged { .. } | Self::ParametersRenamed { .. } => "signature",
            Self::VisibilityReduced => "narrowed",
            Self::BodyChanged => "body",
            Self::Compatible => "compatible",
            Self::Unknown => "unknown",
        }
    }
}

impl SymbolChange {
    /// Returns true if a use of the definition no longer fits it.
    ///
    /// `keywords` are the names by which a call passes arguments.
    pub fn breaks(&self, reference: &Reference, keywords: &[Box<str>]) -> bool {
        // A dependent that is not known to break: only types, another build or a run would decide.
        if reference.certainty > Certainty::Possible {
            return false;
        }
        match &self.what {
            // A removed requirement need not be met any more.
            DefinitionChangeKind::Removed => {
                !matches!(reference.role, Role::Redefine | Role::Covered | Role::Require | Role::Implement)
            }
            // A renamed requirement is not met by the old name.
            DefinitionChangeKind::Renamed(_) if matches!(reference.role, Role::Require | Role::Implement) => {
                !self.was.extends.iter().any(|it| &**it == OPTIONAL)
            }
            DefinitionChangeKind::Renamed(_) | DefinitionChangeKind::VisibilityReduced => {
                !matches!(reference.role, Role::Redefine | Role::InheritedBeside | Role::Covered)
            }
            DefinitionChangeKind::BodyChanged
            | DefinitionChangeKind::Compatible
            | DefinitionChangeKind::Unknown => false,
            _ if self.fit(reference, keywords) == Some(Fit::Fits) => false,
            _ if self.is_decided() && self.fit(reference, keywords).is_some() => true,
            // The call's own file shows whether it passes an argument by such a name.
            DefinitionChangeKind::ParametersRenamed { .. } => {
                matches!(reference.role, Role::Call | Role::Covered | Role::Redefine | Role::Override)
            }
            DefinitionChangeKind::SignatureChanged { unfounded: true, .. } => {
                !matches!(reference.role, Role::Import | Role::Reexport | Role::Type | Role::Extend)
            }
            DefinitionChangeKind::SignatureChanged { arity, beyond_arity, .. } => match reference.role {
                Role::Import | Role::Reexport | Role::Require => false,
                Role::Inherited | Role::InheritedBeside => false,
                Role::Call | Role::Covered | Role::Redefine if reference.arguments.is_some() => {
                    match (reference.arguments, arity) {
                        (Some(arguments), Some(arity)) if !beyond_arity => {
                            !arity.takes(arguments) || self.reorders_arguments(*arity, arguments)
                        }
                        _ => true,
                    }
                }
                // The number of arguments is unknown. If the function accepts more numbers than before, every
                // call still fits.
                Role::Call | Role::Covered => *beyond_arity || !self.accepts_old_calls(*arity),
                // A pattern names all fields of a variant and uses a constant or field as its type; a closed
                // one depends on the number of fields.
                Role::Pattern => match (reference.arguments, arity) {
                    (Some(fields), Some(arity)) if self.was.kind == DefinitionKind::Type => {
                        !arity.takes(fields)
                    }
                    _ => {
                        use DefinitionKind::{Field, Value, Variant};
                        matches!(self.was.kind, Variant | Value | Field)
                    }
                },
                // A type with other fields or variants is still a type, and an open pattern ignores them.
                Role::Type | Role::Owner | Role::Partial | Role::Key => false,
                Role::Construct | Role::Extend | Role::Override => true,
                Role::Redefine | Role::Conform | Role::Implement => true,
                // Passed on or read: its type changed, and only a function that accepts more than before is
                // known to fit.
                Role::Value | Role::Quoted => *beyond_arity || !self.accepts_old_calls(*arity),
            },
        }
    }
}

impl SymbolChange {
    /// Returns true if a place fits the new signature, by the parts of both signatures; `None` if these do not decide it.
    pub fn fit(&self, reference: &Reference, keywords: &[Box<str>]) -> Option<Fit> {
        let DefinitionChangeKind::SignatureChanged { arity, effect: Some(effect), unfounded: false, .. } =
            &self.what
        else {
            return None;
        };
        match reference.role {
            Role::Call | Role::Covered => {
                let counted = reference.arguments.zip(*arity);
                let asks_more = self.was.arity.zip(*arity).is_some_and(|(was, is)| is.least > was.least);
                let passes_new = effect.newly_required.iter().all(|name| keywords.contains(name));
                if asks_more && !keywords.is_empty() && effect.required_names.is_empty() && !passes_new {
                    // The number alone does not show which parameters are passed.
                    return None;
                }
                let takes = counted.is_none_or(|(arguments, arity)| arity.takes(arguments));
                let takes = takes && (counted.is_some() || self.accepts_old_calls(*arity) || arity.is_none());
                Some(if takes { effect.call(reference.arguments, keywords) } else { Fit::Breaks })
            }
            Role::Construct => Some(effect.constructions),
            // Either side may be the changed one.
            Role::Redefine => Some(effect.overrides.max(effect.values)),
            Role::Override | Role::Implement | Role::Extend => Some(effect.overrides),
            Role::Value | Role::Quoted | Role::Conform => Some(effect.values),
            _ => None,
        }
    }

    /// Returns true if a call fits but for the result.
    pub(crate) fn fits_besides_result(&self, reference: &Reference, keywords: &[Box<str>]) -> bool {
        let DefinitionChangeKind::SignatureChanged { arity, effect: Some(effect), unfounded: false, .. } =
            &self.what
        else {
            return false;
        };
        let takes = match (reference.arguments, arity) {
            (Some(arguments), Some(arity)) => arity.takes(arguments),
            _ => self.was.arity == *arity,
        };
        matches!(reference.role, Role::Call | Role::Covered)
            && takes
            && effect.fits_besides_result(reference.arguments, keywords)
    }

    /// Marks a changed signature as compatible if every call fits it, and no other use is affected.
    pub(crate) fn settle(&mut self) {
        let DefinitionChangeKind::SignatureChanged { arity, effect: Some(effect), unfounded: false, .. } =
            &self.what
        else {
            return;
        };
        if effect.fits_calls() && (self.was.arity == *arity || self.accepts_old_calls(*arity)) {
            self.what = DefinitionChangeKind::Compatible;
        }
    }

    /// Says of a type with another inside that its users must do something else.
    pub(crate) fn require(&mut self) {
        if matches!(self.what, DefinitionChangeKind::BodyChanged | DefinitionChangeKind::Compatible) {
            self.what = DefinitionChangeKind::SignatureChanged {
                arity: None,
                beyond_arity: true,
                unfounded: false,
                effect: None,
            };
        }
    }

    /// Returns true if the parts of the signatures also decide which uses break.
    fn is_decided(&self) -> bool {
        matches!(&self.what, DefinitionChangeKind::SignatureChanged { effect: Some(effect), .. } if effect.is_decisive)
    }

    /// Returns true if every previously valid number of arguments is still valid.
    fn accepts_old_calls(&self, arity: Option<Arity>) -> bool {
        let (Some(was), Some(now)) = (self.was.arity, arity) else { return false };
        let fits = |most: u16| was.most.is_some_and(|was| was <= most);
        now.least <= was.least && now.most.is_none_or(fits)
    }

    /// Returns true if a call with a valid number of arguments passes them to other parameters. A new
    /// required parameter precedes the optional ones, so it takes an argument that was for one of them. With
    /// the same number of parameters, an optional one became required. If a
    /// required parameter was removed, every call has passed an argument for it.
    fn reorders_arguments(&self, arity: Arity, arguments: u16) -> bool {
        let Some(was) = self.was.arity else { return false };
        let Some(most) = was.most else { return false };
        let is_fewer = arity.least < was.least && arity.most.is_some_and(|now| now < most);
        let has_new = arity.most != Some(most);
        (arity.least > was.least && has_new && arguments > was.least) || (is_fewer && arguments >= was.least)
    }
}

/// Returns the changes between two contents of a file, for all definitions that other files can name. In the
/// order of the former text.
pub fn compare(old: &Facts, new: &Facts) -> Vec<SymbolChange> {
    compare_reaching(old, new, Reach::Package)
}

/// Compares the definitions of two contents of a file that reach at least as far as `least`, in the order of the former text.
pub(crate) fn compare_reaching(old: &Facts, new: &Facts, least: Reach) -> Vec<SymbolChange> {
    let aliases = aliases_of_renamed(old, new);
    let mut renamed_types = renamed_types(old, new);
    renamed_types.extend(&aliases);
    let gone = RemovedTypes::new(old, new);
    let mut offered = imported(new);
    if old.language == Language::Rust {
        // A name that was already imported next to a definition of the same name is inside a function: no
        // other scope has both.
        let before = imported(old);
        offered.retain(|name| !before.contains(name));
    }
    let mut now = group(new, |container| container.map(str::to_owned));
    let mut wanted: BTreeMap<Key, Vec<&Definition>> = BTreeMap::new();
    let mut changes = Vec::new();
    let mut touched = Vec::new();
    let mut missing = Vec::new();
    for (was, key) in visible_definitions(old, least, &gone, &renamed_types) {
        wanted.entry(key).or_default().push(was);
    }
    for (key, before) in wanted {
        for (was, is) in match_overloads(before, now.get_mut(&key)) {
            match is {
                Some(is) => {
                    if let Some(what) =
                        difference(old.language, was, is).map(|what| beside(what, was, is, old, new))
                    {
                        let what = check_unused_type_params(what, was, is, old, new);
                        touched.push((changes.len(), is));
                        changes.push(SymbolChange { was: was.clone(), what });
                    }
                }
                None if was.container.is_none() && offered.contains(&*was.name) => {}
                None if is_defined_under_another_condition(was, new) => {}
                None if implicit::replaces(was, new) => {}
                None => missing.push(was),
            }
        }
    }
    missing.sort_by_key(|was| was.line);
    let mut added: Vec<&Definition> = now.into_values().flatten().collect();
    added.sort_by_key(|definition| definition.line);
    for was in missing {
        let what = match find_rename(was, &mut added, &renamed_types) {
            Some(name) => DefinitionChangeKind::Renamed(name),
            None => DefinitionChangeKind::Removed,
        };
        changes.push(SymbolChange { was: was.clone(), what });
    }
    settle_renames(old.language, &mut changes, &touched, &aliases);
    changes.retain(|it| it.was.container.is_some() || !aliases.contains_key(&*it.was.name));
    settle_sections(&mut changes, new);
    changes.extend(implicit::changes(old, new).into_iter().filter(|it| it.was.reach >= least));
    changes.sort_by_key(|change| change.was.line);
    changes
}

/// Returns true if a header of C still defines the name in another branch of the preprocessor.
fn is_defined_under_another_condition(was: &Definition, new: &Facts) -> bool {
    use DefinitionKind::{Macro, Type, Value};
    let is_same = |it: &Definition| it.name == was.name && it.container == was.container;
    matches!(new.language, Language::C | Language::Cpp)
        && matches!(was.kind, Macro | Type | Value)
        && new.definitions.iter().any(|it| it.kind == was.kind && is_same(it))
}

/// A definition with another name.
struct Renamed {
    container: Option<Box<str>>,
    from: Box<str>,
    to: Box<str>,
}

impl Renamed {
    fn of(change: &SymbolChange) -> Option<Self> {
        let to = change.what.new_name()?.into();
        Some(Self { container: change.was.container.clone(), from: change.was.name.clone(), to })
    }
}

/// Removes changes that only follow from another rename: of a signature that contains the renamed name, and
/// of a type whose member was renamed.
fn settle_renames(
    language: Language,
    changes: &mut Vec<SymbolChange>,
    touched: &[(usize, &Definition)],
    aliases: &BTreeMap<&str, &str>,
) {
    use Language::{CSharp, Kotlin, Php, Swift};
    let by_alias =
        |(from, to): (&&str, &&str)| Renamed { container: None, from: (*from).into(), to: (*to).into() };
    let renamed: Vec<Renamed> =
        changes.iter().filter_map(Renamed::of).chain(aliases.iter().map(by_alias)).collect();
    let mut settled = BTreeSet::new();
    for (at, is) in touched {
        let change = &mut changes[*at];
        let was = &change.was;
        if matches!(
            change.what,
            DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::Compatible
        ) && renamed.iter().any(|it| {
            // A renamed property is also the name of a parameter of the constructor.
            let is_constructor =
                was.kind == DefinitionKind::Method && matches!(language, CSharp | Kotlin | Php | Swift);
            let is_parameter = is_constructor && it.container == was.container;
            !is_parameter && equal_after_rename(was.signature, is.signature, &it.from, &it.to)
        }) {
            change.what = DefinitionChangeKind::BodyChanged;
        }
        let path = path_of(was);
        let explains = |before: u64, now: u64| {
            before == now
                || renamed.iter().any(|it| {
                    it.container.as_deref() == Some(&*path)
                        && equal_after_rename(before, now, &it.from, &it.to)
                })
        };
        let other = is.signature != was.signature || is.body != was.body;
        if change.what == DefinitionChangeKind::BodyChanged
            && is_type(was)
            && other
            && explains(was.signature, is.signature)
            && explains(was.body, is.body)
        {
            settled.insert(*at);
        }
    }
    let mut at = 0;
    changes.retain(|_| {
        at += 1;
        !settled.contains(&(at - 1))
    });
}

/// Takes back changes of signatures that only another name for a type of another file made. `new` is the present content.
pub(crate) fn settle_foreign_renames(
    changes: &mut [SymbolChange],
    new: &Facts,
    renamed: &[(Box<str>, Box<str>)],
) {
    let resigned = changes.iter_mut().filter(|it| {
        matches!(it.what, DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::Compatible)
    });
    for change in resigned {
        let was = &change.was;
        let same = |it: &&Definition| {
            it.name == was.name
                && it.kind == was.kind
                && it.container == was.container
                && it.arity == was.arity
        };
        let explains = |is: &Definition| {
            renamed.iter().any(|(from, to)| equal_after_rename(was.signature, is.signature, from, to))
        };
        if new.definitions.iter().filter(same).any(explains) {
            change.what = DefinitionChangeKind::BodyChanged;
        }
    }
}

/// Removes changes of numbered headings. Headings with the same text are numbered, so adding or removing one
/// renumbers the others, but does not change them.
fn settle_sections(changes: &mut Vec<SymbolChange>, new: &Facts) {
    let title = |name: &str| {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
        bare.strip_suffix('-').filter(|_| bare.len() < name.len()).unwrap_or(name).to_owned()
    };
    let remains = |was: &Definition| {
        let same = |it: &&Definition| {
            it.kind == DefinitionKind::Section && it.body == was.body && title(&it.name) == title(&was.name)
        };
        new.definitions.iter().find(same)
    };
    let is_section = |change: &SymbolChange| change.was.kind == DefinitionKind::Section;
    changes.retain(|it| {
        !(is_section(it) && it.what == DefinitionChangeKind::BodyChanged && remains(&it.was).is_some())
    });
    for change in changes.iter_mut().filter(|it| is_section(it) && it.what == DefinitionChangeKind::Removed) {
        if let Some(now) = remains(&change.was) {
            change.what = DefinitionChangeKind::Renamed(now.name.clone());
        }
    }
}

/// Returns the names that a file imports at its top level.
fn imported(facts: &Facts) -> BTreeSet<&str> {
    let outermost = facts.imports.iter().filter(|import| import.container.is_none());
    outermost.flat_map(|import| &import.names).map(|name| &*name.local).collect()
}

type Key = (Option<String>, DefinitionKind, Box<str>);

fn group(facts: &Facts, path: impl Fn(Option<&str>) -> Option<String>) -> BTreeMap<Key, Vec<&Definition>> {
    let mut groups: BTreeMap<Key, Vec<&Definition>> = BTreeMap::new();
    for definition in &facts.definitions {
        let key = (path(definition.container.as_deref()), definition.kind, definition.name.clone());
        groups.entry(key).or_default().push(definition);
    }
    groups
}

/// The definitions that reach at least as far as `least`, with the key under which each is expected now.
///
/// Members of a removed type are left out: their users are users of the type.
fn visible_definitions<'a>(
    old: &'a Facts,
    least: Reach,
    gone: &RemovedTypes<'_>,
    renamed: &BTreeMap<&str, &str>,
) -> impl Iterator<Item = (&'a Definition, Key)> {
    let remains = move |was: &&Definition| {
        was.reach >= least && !was.container.as_deref().is_some_and(|path| gone.holds(path))
    };
    old.definitions.iter().filter(remains).map(|was| {
        let container = was.container.as_deref().map(|path| renamed_path(path, renamed));
        (was, (container, was.kind, was.name.clone()))
    })
}

/// The number of definitions with one name above which they are paired in the order of the text: comparing
/// all pairs would take too long.
const MANY: usize = 16;

/// Pairs definitions of the same name (overloads, conditional ones): the least changed first, among those the
/// nearest. Paired definitions are removed from `now`.
fn match_overloads<'a, 'b>(
    before: Vec<&'a Definition>,
    now: Option<&mut Vec<&'b Definition>>,
) -> Vec<(&'a Definition, Option<&'b Definition>)> {
    let mut pairs: Vec<(&Definition, Option<&Definition>)> =
        before.into_iter().map(|was| (was, None)).collect();
    let Some(now) = now else { return pairs };
    if pairs.len().max(now.len()) > MANY {
        for (was, is) in &mut pairs {
            let nearest = now.iter().enumerate().min_by_key(|(_, is)| distance(was, is));
            *is = nearest.map(|(at, _)| at).map(|at| now.remove(at));
        }
        return pairs;
    }
    loop {
        let open = pairs.iter().enumerate().filter(|(_, (_, is))| is.is_none());
        let nearest = open
            .flat_map(|(from, (was, _))| {
                now.iter().enumerate().map(move |(to, is)| (distance(was, is), from, to))
            })
            .min();
        let Some((_, from, to)) = nearest else { return pairs };
        pairs[from].1 = Some(now.remove(to));
    }
}

fn distance(was: &Definition, is: &Definition) -> (bool, bool, u32) {
    (is.signature != was.signature, is.body != was.body, is.line.abs_diff(was.line))
}

/// Returns the change of a definition that still exists. `None` if there is none.
pub(crate) fn difference(
    language: Language,
    was: &Definition,
    is: &Definition,
) -> Option<DefinitionChangeKind> {
    if is.reach < was.reach {
        Some(DefinitionChangeKind::VisibilityReduced)
    } else if is.signature != was.signature || is.arity != was.arity {
        let effect = signature::compare(language, was, is);
        if effect.as_ref().is_some_and(|effect| effect.is_compatible() && !narrows(was, is)) {
            return Some(DefinitionChangeKind::Compatible);
        }
        let beyond_arity = is.arity == was.arity || type_changed(was, is);
        Some(DefinitionChangeKind::SignatureChanged {
            arity: is.arity,
            beyond_arity,
            unfounded: false,
            effect: effect.map(Box::new),
        })
    } else if is.parameters != was.parameters {
        let gone = was.parameters.iter().filter(|name| !is.parameters.contains(name)).cloned();
        Some(DefinitionChangeKind::ParametersRenamed { gone: gone.collect() })
    } else if is.body != was.body {
        Some(DefinitionChangeKind::BodyChanged)
    } else {
        None
    }
}

/// Returns true if a call that fitted no longer does, by the number of its arguments.
fn narrows(was: &Definition, is: &Definition) -> bool {
    match (was.arity, is.arity) {
        (Some(was), Some(is)) => {
            is.least > was.least || is.most.is_some_and(|is| was.most.is_none_or(|was| is < was))
        }
        (was, is) => was != is,
    }
}

/// Returns true if a definition has another result. For a function, its parameter types are included if they
/// are informative; additional or missing parameters are covered by its arity.
fn type_changed(was: &Definition, is: &Definition) -> bool {
    let named = !was.parameters.is_empty();
    match (&was.gives, &is.gives) {
        // With named parameters, inserting one before them moves none.
        (Some(Shape::Function(_, before)), Some(Shape::Function(_, now))) if named => before != now,
        (Some(Shape::Function(before, was)), Some(Shape::Function(now, is))) => {
            was != is || before.iter().zip(now).any(|(before, now)| before != now)
        }
        (was, is) => was != is,
    }
}

/// Adjusts a changed signature for unchanged overloads, which a call may still fit.
fn beside(
    what: DefinitionChangeKind,
    was: &Definition,
    is: &Definition,
    old: &Facts,
    new: &Facts,
) -> DefinitionChangeKind {
    let DefinitionChangeKind::SignatureChanged { arity: Some(mut arity), beyond_arity, unfounded, effect } =
        what
    else {
        return what;
    };
    // Two definitions of one name in Rust have different types, or only one of them is compiled.
    if old.language == Language::Rust {
        return DefinitionChangeKind::SignatureChanged {
            arity: Some(arity),
            beyond_arity,
            unfounded,
            effect,
        };
    }
    let of = |other: &Definition, one: &Definition| {
        other.name == one.name && other.kind == one.kind && other.container == one.container
    };
    let stayed = |other: &Definition| {
        let before = old.definitions.iter().filter(|it| of(it, was) && !std::ptr::eq(*it, was));
        before.into_iter().any(|it| it.signature == other.signature)
    };
    let others = new.definitions.iter().filter(|it| of(it, is) && !std::ptr::eq(*it, is) && stayed(it));
    let mut any = false;
    // If it requires more arguments, and all others may return nothing, callers that always got a value may
    // now get none.
    let asks_more = was.arity.is_some_and(|was| arity.least > was.least);
    let mut may_fail = asks_more && !gives_nothing(was);
    for (other, taken) in others.filter_map(|it| Some((it, it.arity?))) {
        // With a gap between them, the number of arguments shows which one a call means.
        if is_apart(arity, taken) {
            continue;
        }
        any = true;
        may_fail &= gives_nothing(other);
        arity.least = arity.least.min(taken.least);
        arity.most = arity.most.zip(taken.most).map(|(one, other)| one.max(other));
    }
    // A call may fit another overload, regardless of this one.
    let effect = effect.filter(|_| !any);
    DefinitionChangeKind::SignatureChanged {
        arity: Some(arity),
        beyond_arity: (beyond_arity && !any) || (any && may_fail),
        unfounded,
        effect,
    }
}

/// Returns true if a number between two arities fits neither.
fn is_apart(one: Arity, other: Arity) -> bool {
    let is_below = |low: Arity, high: Arity| low.most.is_some_and(|most| most.saturating_add(1) < high.least);
    is_below(one, other) || is_below(other, one)
}

/// Returns true if a Python function may return `None`.
fn gives_nothing(function: &Definition) -> bool {
    let Some(Shape::Function(_, gives)) = &function.gives else { return false };
    let is_none = |shape: &Shape| matches!(shape, Shape::Of(name) if &**name == "None");
    matches!(&**gives, Shape::Either(parts) if parts.iter().any(is_none))
}

/// Detects a Rust type whose fields no longer use one of its parameters.
fn check_unused_type_params(
    what: DefinitionChangeKind,
    was: &Definition,
    is: &Definition,
    old: &Facts,
    new: &Facts,
) -> DefinitionChangeKind {
    if old.language != Language::Rust || was.kind != DefinitionKind::Type {
        return what;
    }
    let DefinitionChangeKind::SignatureChanged { arity, beyond_arity, effect, .. } = what else {
        return what;
    };
    let unfounded = match (parameters(old, was), parameters(new, is)) {
        (Some(before), Some(after)) => before.iter().any(|parameter| !after.contains(parameter)),
        _ => false,
    };
    DefinitionChangeKind::SignatureChanged { arity, beyond_arity, unfounded, effect }
}

/// The positions of a type's parameters that its fields use; `None` if a field hides them.
fn parameters<'f>(facts: &'f Facts, of: &Definition) -> Option<BTreeSet<&'f str>> {
    let mut used = BTreeSet::new();
    // Two types with one name have different conditions: the fields between its lines are its own.
    let fields = facts
        .definitions
        .iter()
        .filter(|it| it.kind == DefinitionKind::Field && (of.line..=of.end_line).contains(&it.line));
    for field in fields {
        let Some(Shape::Of(text)) = &field.gives else { return None };
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
        if words.clone().any(|word| word == "_") {
            return None;
        }
        used.extend(words.by_ref().filter(|word| word.starts_with('$')));
    }
    Some(used)
}

fn is_type(definition: &Definition) -> bool {
    use DefinitionKind::{Interface, Module, Type};
    matches!(definition.kind, Type | Interface | Module)
}

/// Returns the types that were renamed in place, by their former names.
pub(crate) fn renamed_types<'a>(old: &'a Facts, new: &'a Facts) -> BTreeMap<&'a str, &'a str> {
    let (lost, mut won) = (removed_types(old, new), removed_types(new, old));
    let mut renamed = BTreeMap::new();
    for was in lost {
        let members = |facts: &'a Facts, name: &str| -> BTreeSet<&'a str> {
            let inside = |d: &&Definition| d.container.as_deref() == Some(name);
            facts.definitions.iter().filter(inside).map(|d| &*d.name).collect()
        };
        let same = |is: &&Definition| {
            is.kind == was.kind
                && is.container == was.container
                && (is.body == was.body || members(old, &was.name) == members(new, &is.name))
        };
        if let Some(at) = won.iter().position(same) {
            renamed.insert(&*was.name, &*won.remove(at).name);
        }
    }
    renamed
}

/// Returns the types that have another name now while their former one is an alias for it: the alias, then the new name.
fn aliases_of_renamed<'a>(old: &'a Facts, new: &'a Facts) -> BTreeMap<&'a str, &'a str> {
    let is_own = |it: &&Definition| is_type(it) && it.container.is_none();
    let named = |facts: &'a Facts, name: &str| {
        let mut types = facts.definitions.iter().filter(is_own).filter(|it| *it.name == *name);
        types.next().filter(|_| types.next().is_none())
    };
    let mut found = BTreeMap::new();
    for alias in new.definitions.iter().filter(is_own) {
        let Some(Shape::Of(to)) = &alias.gives else { continue };
        let to = to.trim_start_matches("self::");
        let (Some(was), Some(is)) = (named(old, &alias.name), named(new, to)) else { continue };
        let is_renamed = was.gives == is.gives && named(old, to).is_none() && was.kind == is.kind;
        // In Rust, an alias of a tuple struct or of a unit struct makes no value of it.
        let makes_values = new.language != Language::Rust || has_named_members(new, to);
        if is_renamed && makes_values && is.reach >= was.reach && is.arity == was.arity {
            found.insert(&*was.name, &*is.name);
        }
    }
    found
}

/// Returns true if a type has fields or variants with names, in place of positions.
fn has_named_members(facts: &Facts, container: &str) -> bool {
    let mut members = facts.definitions.iter().filter(|it| it.container.as_deref() == Some(container));
    members.any(|it| {
        matches!(it.kind, DefinitionKind::Field | DefinitionKind::Variant)
            && !it.name.starts_with(|first: char| first.is_ascii_digit())
    })
}

/// Returns the types of one content that the other does not have in any place.
fn removed_types<'a>(from: &'a Facts, to: &Facts) -> Vec<&'a Definition> {
    let places = |facts: &'_ Facts| -> BTreeSet<(Option<Box<str>>, Box<str>)> {
        let types = facts.definitions.iter().filter(|d| is_type(d) || is_object(d));
        types.map(|d| (d.container.clone(), d.name.clone())).collect()
    };
    let (before, after) = (places(from), places(to));
    let moved: BTreeSet<&str> = after.difference(&before).map(|(_, name)| &**name).collect();
    let remains =
        |d: &Definition| moved.contains(&*d.name) || after.contains(&(d.container.clone(), d.name.clone()));
    let owners: BTreeSet<&str> = from.definitions.iter().filter_map(|d| d.container.as_deref()).collect();
    // An object is identified by its members, like a type.
    let holds = |d: &Definition| is_type(d) || (is_object(d) && owners.contains(&*d.name));
    from.definitions.iter().filter(|d| holds(d) && !remains(d)).collect()
}

struct RemovedTypes<'a> {
    /// Names that no type has any more: all members of such a type are removed with it.
    names: BTreeSet<&'a str>,
    /// All paths: another type may have the same name, like an associated type and its trait.
    paths: BTreeSet<String>,
}

impl<'a> RemovedTypes<'a> {
    fn new(old: &'a Facts, new: &'a Facts) -> Self {
        let lost = removed_types(old, new);
        let remain: BTreeSet<&str> =
            new.definitions.iter().filter(|d| is_type(d) || is_object(d)).map(|d| &*d.name).collect();
        let names = lost.iter().map(|was| &*was.name).filter(|name| !remain.contains(name));
        Self { names: names.collect(), paths: lost.iter().map(|was| path_of(was)).collect() }
    }

    /// Returns true if a path is one of them, or inside one.
    fn holds(&self, path: &str) -> bool {
        let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
        path.split('.').any(|part| self.names.contains(part))
            || ends.into_iter().any(|end| self.paths.contains(&path[..end]))
    }
}

/// Returns true if it may be an object whose properties are separate definitions.
fn is_object(definition: &Definition) -> bool {
    definition.kind == DefinitionKind::Value && definition.container.is_none() && definition.gives.is_none()
}

/// Returns the path of a container with the new names of renamed types.
pub(crate) fn renamed_path(path: &str, renamed: &BTreeMap<&str, &str>) -> String {
    path.split('.').map(|part| *renamed.get(part).unwrap_or(&part)).collect::<Vec<_>>().join(".")
}

/// Returns the added definition that replaces a missing one: the same body or, if there is only one
/// candidate, the same kind in the same container.
fn find_rename(
    was: &Definition,
    added: &mut Vec<&Definition>,
    renamed: &BTreeMap<&str, &str>,
) -> Option<Box<str>> {
    let container = was.container.as_deref().map(|path| renamed_path(path, renamed));
    let fits = |is: &Definition| {
        is.kind == was.kind && is.container.as_deref() == container.as_deref() && is.reach >= was.reach
    };
    let known = renamed.get(&*was.name).copied();
    let at = added
        .iter()
        .position(|is| fits(is) && known == Some(&*is.name))
        .or_else(|| added.iter().position(|is| fits(is) && is.body == was.body && is.arity == was.arity))
        .or_else(|| {
            let mut fitting =
                added.iter().enumerate().filter(|(_, is)| fits(is) && is.signature == was.signature);
            match (fitting.next(), fitting.next()) {
                (Some((at, _)), None) => Some(at),
                _ => None,
            }
        })?;
    Some(added.remove(at).name.clone())
}

#[cfg(test)]
mod tests;
