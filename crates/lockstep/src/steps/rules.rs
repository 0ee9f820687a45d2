//! The rules that a step is judged by: they stay those under which it began, until a person accepts others.

use lockstep_config::key_schema::all_keys;
use lockstep_steps::step::Step;
use lockstep_store::project_memory::Identity;

use super::StepContext;
use super::files::StepFile;

/// The sections whose keys are rules.
const SECTIONS: [&str; 4] = ["steps", "gates", "audit", "hooks"];

/// The tables of the steps that a project may have of its own.
const TABLES: [&str; 3] = ["step-execution-fsm.yaml", "des-commands.yaml", "_section-definitions.yaml"];

impl StepContext<'_> {
    /// The digest of the rules: every key about steps and gates that is not at its default, and the project's own tables.
    pub(crate) fn rules_digest(&self) -> String {
        let config = self.project.config();
        let mut hasher = blake3::Hasher::new();
        let mut add = |name: &str, value: &[u8]| {
            for part in [name.as_bytes(), value] {
                hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
        };
        for key in all_keys() {
            let is_rule = SECTIONS.contains(&key.section) || (key.section, key.name) == ("journal", "sweep");
            if !is_rule {
                continue;
            }
            let value = key.value_toml(config);
            if value != key.default_toml() {
                add(&format!("{}.{}", key.section, key.name), value.as_bytes());
            }
        }
        let configured = [&config.steps.machine, &config.steps.commands, &config.steps.sections];
        for (name, path) in TABLES.iter().zip(configured) {
            let path = path.resolve(&self.project.root).unwrap_or_else(|| self.dir().join(name));
            if let Ok(text) = lockstep_fs::read(&path) {
                add(name, &text);
            }
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Returns the digest of the rules that apply to a step: those at its start, or the present ones if it
    /// has not been started.
    pub(crate) fn rules_of(&self, file: &StepFile, step: &Step) -> String {
        let state = if step.is_pristine() { None } else { self.recorded_state(file).ok().flatten() };
        let rules = state.map(|state| state.rules).filter(|rules| !rules.is_empty());
        rules.unwrap_or_else(|| self.rules_digest())
    }

    /// Returns true if an open step began under other rules. Then a gate that is switched off now still decides.
    pub(crate) fn has_changed_rules(&self) -> bool {
        let known = match self.project.memory().identity() {
            Ok(Identity::Known(known)) => known,
            Ok(Identity::Fresh) => return false,
            // The rules that steps began under are unknown.
            Ok(Identity::Lost(_)) | Err(_) => return true,
        };
        if known.rules.is_empty() {
            return false;
        }
        let digest = self.rules_digest();
        known.rules.values().any(|rules| *rules != digest)
    }
}
