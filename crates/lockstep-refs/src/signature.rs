//! Compares signatures by their parts: parameters, result, modifiers.
//!
//! A different signature is not a break by itself. A call breaks if its arguments no longer fit, an override
//! if it no longer matches, a function passed as a value if its type is no longer accepted. The comparison
//! uses the tokens in [`Definition::header`] and no other file, so a relation between two named types is
//! [`Fit::Unknown`].

mod effect;
mod header;
mod modifiers;
mod parameter;
mod relation;
mod types;

pub(crate) use modifiers::is_unchecked;
use serde::{Deserialize, Serialize};

use crate::facts::{Definition, DefinitionKind};
use crate::language::Language;

/// True if a use of a definition still fits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fit {
    Fits,
    /// The text does not decide it: types of other files would.
    Unknown,
    Breaks,
}

/// The consequences of a changed signature, for each kind of use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// For each parameter of the former signature that a call can pass.
    pub parameters: Vec<ParameterEffect>,
    /// Parameters that every call must pass by name now.
    pub required_names: Vec<Box<str>>,
    /// Parameters that every call must pass now, by place or by name.
    pub newly_required: Vec<Box<str>>,
    /// For every call, regardless of its arguments: result, modifiers.
    pub every_call: Fit,
    /// For every construction of a type. For a field: for a literal that gives it.
    pub constructions: Fit,
    /// For every call that does not depend on the result.
    pub besides_result: Fit,
    /// For overrides, redefinitions and implementations. For a type: for subtypes.
    pub overrides: Fit,
    /// For the definition passed or read as a value.
    pub values: Fit,
    /// True if the definition could be overridden before and cannot be now.
    pub forbids_overrides: bool,
    /// Set if a use that does not fit breaks. In Python a checker knows more than the signature shows, so the
    /// comparison only decides which uses fit.
    pub is_decisive: bool,
}

/// The consequence for an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterEffect {
    /// The parameter's former name.
    pub name: Box<str>,
    /// For an argument that is passed by position; `None` for a parameter that is only passed by name.
    pub by_place: Option<Fit>,
    /// For an argument that is passed by name.
    pub by_name: Fit,
}

impl Effect {
    /// An effect that nothing notices.
    fn none() -> Self {
        let fits = Fit::Fits;
        let parameters = Vec::new();
        Self {
            parameters,
            required_names: Vec::new(),
            newly_required: Vec::new(),
            every_call: fits,
            constructions: fits,
            besides_result: fits,
            overrides: fits,
            values: fits,
            forbids_overrides: false,
            is_decisive: true,
        }
    }

    /// Raises the results that affect every use.
    fn raise(&mut self, (calls, overrides, values): Fits) {
        self.besides_result = self.besides_result.max(calls);
        self.raise_by_result((calls, overrides, values));
    }

    /// Raises the results that affect every use of the result.
    fn raise_by_result(&mut self, (calls, overrides, values): Fits) {
        self.every_call = self.every_call.max(calls);
        self.constructions = self.constructions.max(calls);
        self.overrides = self.overrides.max(overrides);
        self.values = self.values.max(values);
    }

    /// Returns true if no use can notice the change.
    pub fn is_compatible(&self) -> bool {
        self.fits_calls() && self.overrides.max(self.values) == Fit::Fits
    }

    /// Returns true if every call fits that passes a fitting number of arguments.
    pub(crate) fn fits_calls(&self) -> bool {
        let fits =
            |effect: &ParameterEffect| effect.by_place.unwrap_or(Fit::Fits).max(effect.by_name) == Fit::Fits;
        self.every_call == Fit::Fits && self.required_names.is_empty() && self.parameters.iter().all(fits)
    }

    /// Returns true if an argument that is passed by this name no longer fits.
    pub(crate) fn misses(&self, name: &str) -> bool {
        self.parameters.iter().any(|effect| *effect.name == *name && effect.by_name == Fit::Breaks)
    }

    /// Returns true if a call fits, by the types and names of its parameters; their number is not considered.
    ///
    /// `arguments` is `None` if some of them are unpacked, so that their number is unknown.
    pub fn call(&self, arguments: Option<u16>, keywords: &[Box<str>]) -> Fit {
        self.passes(arguments, keywords).max(self.every_call)
    }

    /// Returns true if the result changed, and a call fits that does not depend on it.
    pub(crate) fn fits_besides_result(&self, arguments: Option<u16>, keywords: &[Box<str>]) -> bool {
        self.every_call > self.besides_result
            && self.passes(arguments, keywords).max(self.besides_result) == Fit::Fits
    }

    pub(crate) fn passes(&self, arguments: Option<u16>, keywords: &[Box<str>]) -> Fit {
        let positional = arguments.map(|all| usize::from(all).saturating_sub(keywords.len()));
        let places = self.parameters.iter().filter_map(|effect| effect.by_place);
        let by_place = match positional {
            Some(count) => places.take(count).max(),
            None => places.max().map(|fit| fit.min(Fit::Unknown)),
        };
        let named = |name: &str| self.parameters.iter().find(|effect| *effect.name == *name);
        let by_name = keywords.iter().filter_map(|name| named(name)).map(|effect| effect.by_name).max();
        let is_given = |name: &str| positional.is_none() || keywords.iter().any(|keyword| **keyword == *name);
        if !self.required_names.iter().all(|name| is_given(name)) {
            return Fit::Breaks;
        }
        [by_place, by_name].into_iter().flatten().max().unwrap_or(Fit::Fits)
    }
}

/// The fit of calls, of overrides and of values.
type Fits = (Fit, Fit, Fit);

/// Returns the effect of a changed signature. `None` if its parts are unknown.
pub(crate) fn compare(language: Language, was: &Definition, is: &Definition) -> Option<Effect> {
    use DefinitionKind::{Field, Function, Interface, Method, Type, Value};
    if was.header.is_empty() || is.header.is_empty() || was.kind != is.kind || was.header == is.header {
        return None;
    }
    let (old, new) = (header::tokens(&was.header), header::tokens(&is.header));
    match was.kind {
        Function | Method => {
            let is_bound = was.kind == Method && language == Language::Python;
            let old = header::Header::parse(language, &old, is_bound)?;
            let new = header::Header::parse(language, &new, is_bound)?;
            Some(effect::of_functions(language, &old, &new))
        }
        Type | Interface => types::of_types(language, &old, &new),
        Field | Value => Some(types::of_values(language, &old, &new)),
        _ => None,
    }
    .map(|effect| {
        // Only C declares a function in one place and defines it in another.
        let declared = matches!(language, Language::C | Language::Cpp) || was.kind != Function;
        let overrides = if declared { effect.overrides } else { Fit::Fits };
        Effect { is_decisive: language != Language::Python, overrides, ..effect }
    })
}

/// The agreement of two functions: a declaration and its definition, a method and its override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// The parameter and result types are equal.
    Types,
    /// The numbers of parameters are equal.
    Number,
    /// Neither is equal.
    None,
}

/// Compares two functions that should have the same signature. `None` if their parts are unknown.
pub(crate) fn agreement(language: Language, one: &Definition, other: &Definition) -> Option<Agreement> {
    let (a, b) = (header::tokens(&one.header), header::tokens(&other.header));
    let is_bound = one.kind == DefinitionKind::Method && language == Language::Python;
    let a = header::Header::parse(language, &a, is_bound);
    let b = header::Header::parse(language, &b, is_bound);
    let (a, b) = a.zip(b)?;
    Some(match a.parameters.len() == b.parameters.len() {
        true if effect::have_same_types(language, &a, &b) => Agreement::Types,
        true => Agreement::Number,
        false => Agreement::None,
    })
}

/// Returns the tokens of a function's result, separated by spaces; `None` if its parts are unknown.
pub(crate) fn result_type(language: Language, function: &Definition) -> Option<String> {
    let tokens = header::tokens(&function.header);
    let is_bound = function.kind == DefinitionKind::Method && language == Language::Python;
    header::Header::parse(language, &tokens, is_bound).map(|header| header.result.join(" "))
}

/// Returns true if every value of a written type is one of another.
pub(crate) fn accepts(language: Language, given: &str, expected: &str) -> bool {
    let tokens = |type_: &str| -> Vec<String> {
        let mut spaced = String::new();
        for c in type_.chars() {
            if c.is_alphanumeric() || c == '_' { spaced.push(c) } else { spaced.extend([' ', c, ' ']) }
        }
        spaced.split_whitespace().map(str::to_owned).collect()
    };
    let (given, expected) = (tokens(given), tokens(expected));
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    let found = relation::relation(language, &given, &expected, &relation::TypeParameters::default());
    !given.is_empty()
        && !expected.is_empty()
        && matches!(found, relation::Relation::Same | relation::Relation::Wider)
}

/// Returns the number of results of a function of Go.
pub(crate) fn result_count(function: &Definition) -> Option<usize> {
    let tokens = header::tokens(&function.header);
    header::Header::parse(Language::Go, &tokens, false).map(|header| effect::result_count(&header.result))
}

/// Returns the names and types of a function's parameters.
pub(crate) fn parameters(language: Language, function: &Definition) -> Vec<(String, String)> {
    let tokens = header::tokens(&function.header);
    let is_bound = function.kind == DefinitionKind::Method && language == Language::Python;
    let parsed = header::Header::parse(language, &tokens, is_bound);
    let parameters = parsed.map(|header| header.parameters).unwrap_or_default();
    parameters.iter().map(|parameter| (parameter.name.to_owned(), parameter.type_.join(" "))).collect()
}

/// Returns the type of a parameter, if it is a plain name or path, or a pointer to one.
pub(crate) fn parameter_type(language: Language, function: &Definition, at: usize) -> Option<String> {
    let tokens = header::tokens(&function.header);
    let parsed = header::Header::parse(language, &tokens, false)?;
    let is_rest = |candidate: &parameter::Parameter<'_>| candidate.takes == parameter::Takes::Rest;
    let last = parsed.parameters.last().filter(|parameter| is_rest(parameter));
    let parameter = parsed.parameters.get(at).or(last)?;
    let path: String =
        parameter.type_.iter().filter(|name| !matches!(**name, "*" | "...")).copied().collect();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    (!path.is_empty() && path.chars().all(is_plain)).then_some(path)
}

#[cfg(test)]
mod tests;
