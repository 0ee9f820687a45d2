//! A changed definition, and the references that it breaks.

use crate::facts::{Arity, Definition, DefinitionKind, OPTIONAL, Role};
use crate::reference::{Certainty, Reference};
use crate::signature::{Effect, Fit};

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
        unused_type_param: bool,
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
                !self.was.extends.iter().any(|base| &**base == OPTIONAL)
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
            DefinitionChangeKind::SignatureChanged { unused_type_param: true, .. } => {
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
        let DefinitionChangeKind::SignatureChanged {
            arity,
            effect: Some(effect),
            unused_type_param: false,
            ..
        } = &self.what
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
        let DefinitionChangeKind::SignatureChanged {
            arity,
            effect: Some(effect),
            unused_type_param: false,
            ..
        } = &self.what
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
        let DefinitionChangeKind::SignatureChanged {
            arity,
            effect: Some(effect),
            unused_type_param: false,
            ..
        } = &self.what
        else {
            return;
        };
        if effect.fits_calls() && (self.was.arity == *arity || self.accepts_old_calls(*arity)) {
            self.what = DefinitionChangeKind::Compatible;
        }
    }

    /// Treats a change inside a type as one of its signature: its users must adapt.
    pub(crate) fn require(&mut self) {
        if matches!(self.what, DefinitionChangeKind::BodyChanged | DefinitionChangeKind::Compatible) {
            self.what = DefinitionChangeKind::SignatureChanged {
                arity: None,
                beyond_arity: true,
                unused_type_param: false,
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
    pub(super) fn reorders_arguments(&self, arity: Arity, arguments: u16) -> bool {
        let Some(was) = self.was.arity else { return false };
        let Some(most) = was.most else { return false };
        let is_fewer = arity.least < was.least && arity.most.is_some_and(|now| now < most);
        let has_new = arity.most != Some(most);
        (arity.least > was.least && has_new && arguments > was.least) || (is_fewer && arguments >= was.least)
    }
}
