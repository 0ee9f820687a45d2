//! A large repository that never was: modules in three languages with realistic sizes, names and imports, the same for the same
//! seed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::XtaskResult;

const FOLDER: usize = 18;

/// Words that identifiers are made of.
const STEMS: [&str; 48] = [
    "account", "batch", "cache", "channel", "client", "column", "config", "cursor", "delta", "digest",
    "driver", "edge", "entry", "event", "field", "filter", "frame", "graph", "handle", "header", "index",
    "job", "key", "layer", "ledger", "limit", "line", "merge", "metric", "node", "packet", "page", "parser",
    "policy", "queue", "range", "record", "region", "request", "route", "schema", "session", "shard",
    "signal", "table", "token", "value", "window",
];
const VERBS: [&str; 16] = [
    "apply", "build", "check", "close", "collect", "decode", "encode", "find", "load", "open", "parse",
    "read", "render", "resolve", "update", "write",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceLanguage {
    Python,
    TypeScript,
    Rust,
}

/// One module: where it is and what it defines.
#[derive(Debug, Clone)]
struct Module {
    tongue: SourceLanguage,
    folder: usize,
    number: usize,
}

impl Module {
    fn new(number: usize) -> Self {
        let folder = number / FOLDER;
        let tongue = match folder % 10 {
            0..4 => SourceLanguage::Python,
            4..8 => SourceLanguage::TypeScript,
            _ => SourceLanguage::Rust,
        };
        Self { tongue, folder, number }
    }

    fn name(&self) -> String {
        format!("{}_{}", STEMS[self.number % STEMS.len()], self.number)
    }

    fn path(&self) -> String {
        let (folder, name) = (self.folder, self.name());
        let area = folder / 12;
        match self.tongue {
            SourceLanguage::Python => format!("services/area{area:03}/pkg{folder:04}/{name}.py"),
            SourceLanguage::TypeScript => format!("web/area{area:03}/part{folder:04}/{name}.ts"),
            SourceLanguage::Rust => format!("crates/part{folder:04}/src/{name}.rs"),
        }
    }

    /// The functions that others may use.
    fn function(&self, at: usize) -> String {
        let verb = VERBS[(self.number + at * 5) % VERBS.len()];
        format!("{verb}_{}_{at}", self.name())
    }
}

/// Random numbers from a seed, so that the repository is reproducible.
struct SplitMix64(u64);

impl SplitMix64 {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % sides.max(1)
    }
}

/// The generated repository, as far as the queries need it.
pub(super) struct SyntheticRepo {
    /// The Python file that most others import, relative to the root.
    pub(super) file: String,
    /// A function of it that others call.
    pub(super) function: String,
    pub(super) files: usize,
    /// The total number of bytes.
    pub(super) bytes: u64,
    /// The path and name of some modules: their first functions are the names to search for.
    pub(super) names: Vec<String>,
}

/// Plants about `files` files.
pub(super) fn generate(root: &Path, files: usize, seed: u64) -> XtaskResult<SyntheticRepo> {
    let mut dice = SplitMix64(seed | 1);
    let modules: Vec<Module> = (0..files).map(Module::new).collect();
    let mut bytes = 0;
    let mut importers = vec![0_usize; modules.len()];
    for module in &modules {
        let imports = imports(&mut dice, &modules, module);
        imports.iter().for_each(|other| importers[other.number] += 1);
        let text = text(&mut dice, module, &imports);
        bytes += text.len() as u64;
        let path = root.join(module.path());
        fs::create_dir_all(path.parent().ok_or("a module has a folder")?)?;
        fs::write(path, text)?;
    }
    for folder in modules.chunks(FOLDER) {
        bytes += write_folder(root, folder)?;
    }
    fs::write(root.join(".gitignore"), "target/\nnode_modules/\n*.pyc\n")?;
    let python = modules.iter().filter(|module| module.tongue == SourceLanguage::Python);
    let subject = python.max_by_key(|module| importers[module.number]).ok_or("there is a module")?;
    let names = modules.iter().step_by(files / 8 + 1).map(|module| module.function(0)).collect();
    Ok(SyntheticRepo { file: subject.path(), function: subject.function(0), files, bytes, names })
}

/// Writes the file that makes a folder a package.
fn write_folder(root: &Path, folder: &[Module]) -> XtaskResult<u64> {
    let first = &folder[0];
    let dir = root.join(first.path());
    let dir = dir.parent().ok_or("a module has a folder")?;
    let (name, text) = match first.tongue {
        SourceLanguage::Python => {
            for above in dir.ancestors().skip(1).take(2) {
                fs::write(above.join("__init__.py"), "")?;
            }
            ("__init__.py", String::new())
        }
        SourceLanguage::TypeScript => {
            let lines = folder.iter().map(|module| format!("export * from \"./{}\";\n", module.name()));
            ("index.ts", lines.collect())
        }
        SourceLanguage::Rust => {
            let manifest = format!("[package]\nname = \"part{:04}\"\nversion = \"0.1.0\"\n", first.folder);
            fs::write(dir.parent().ok_or("src is in a crate")?.join("Cargo.toml"), manifest)?;
            ("lib.rs", folder.iter().map(|module| format!("pub mod {};\n", module.name())).collect())
        }
    };
    fs::write(dir.join(name), &text)?;
    Ok(text.len() as u64)
}

/// Chooses modules of the same language: mostly from the same folder, sometimes a distant one, occasionally
/// one that is used everywhere.
fn imports<'m>(dice: &mut SplitMix64, modules: &'m [Module], module: &Module) -> Vec<&'m Module> {
    let mut chosen: Vec<&Module> = Vec::new();
    for _ in 0..2 + dice.roll(5) {
        let at = match dice.roll(10) {
            0..6 => module.folder * FOLDER + dice.roll(FOLDER),
            6..9 => dice.roll(modules.len()),
            _ => dice.roll(modules.len() / 100 + 1) * 100,
        };
        if let Some(other) = modules.get(at)
            && other.tongue == module.tongue
            // A crate would have to declare the dependency on another.
            && (module.tongue != SourceLanguage::Rust || other.folder == module.folder)
            && other.number != module.number
            && chosen.iter().all(|known| known.number != other.number)
        {
            chosen.push(other);
        }
    }
    chosen
}

fn text(dice: &mut SplitMix64, module: &Module, imports: &[&Module]) -> String {
    let mut out = String::new();
    for other in imports {
        let (name, functions) = (other.name(), [other.function(0), other.function(1)]);
        let _ = match module.tongue {
            SourceLanguage::Python => writeln!(
                out,
                "from services.area{:03}.pkg{:04}.{name} import {}, {}",
                other.folder / 12,
                other.folder,
                functions[0],
                functions[1]
            ),
            SourceLanguage::TypeScript => writeln!(
                out,
                "import {{ {}, {} }} from \"../../area{:03}/part{:04}/{name}\";",
                functions[0],
                functions[1],
                other.folder / 12,
                other.folder
            ),
            SourceLanguage::Rust => {
                writeln!(out, "use crate::{name}::{{{}, {}}};", functions[0], functions[1])
            }
        };
    }
    out.push('\n');
    for at in 0..3 + dice.roll(8) {
        function(&mut out, dice, module, at, imports);
    }
    out
}

fn function(out: &mut String, dice: &mut SplitMix64, module: &Module, at: usize, imports: &[&Module]) {
    let name = module.function(at);
    let local = |dice: &mut SplitMix64| {
        format!("{}_{}", STEMS[dice.roll(STEMS.len())], STEMS[dice.roll(STEMS.len())])
    };
    let mut body = Vec::new();
    for _ in 0..4 + dice.roll(12) {
        let (left, right) = (local(dice), local(dice));
        let call = match imports.get(dice.roll(imports.len() * 2)) {
            Some(other) => other.function(dice.roll(2)),
            None => name.clone(),
        };
        body.push((left, right, call));
    }
    let _ = match module.tongue {
        SourceLanguage::Python => writeln!(
            out,
            "def {name}(value, limit=10):\n    \"\"\"Handle the {} of a {}.\"\"\"",
            local(dice),
            local(dice)
        ),
        SourceLanguage::TypeScript => writeln!(
            out,
            "/** Handle the {} of a {}. */\nexport function {name}(value: number, limit = 10): number {{",
            local(dice),
            local(dice)
        ),
        SourceLanguage::Rust => writeln!(
            out,
            "/// Handle the {} of a {}.\npub fn {name}(value: u64, limit: u64) -> u64 {{",
            local(dice),
            local(dice)
        ),
    };
    for (left, right, call) in body {
        let _ = match module.tongue {
            SourceLanguage::Python => {
                writeln!(out, "    {left} = {call}(value + {}, limit)  # keep the {right}", dice.roll(100))
            }
            SourceLanguage::TypeScript => writeln!(
                out,
                "  const {left}{} = {call}(value + {}, limit); // keep the {right}",
                dice.roll(1000),
                dice.roll(100)
            ),
            SourceLanguage::Rust => writeln!(
                out,
                "    let {left} = {call}(value + {}, limit); // keep the {right}",
                dice.roll(100)
            ),
        };
    }
    out.push_str(match module.tongue {
        SourceLanguage::Python => "    return value\n\n\n",
        SourceLanguage::TypeScript => "  return value;\n}\n\n",
        SourceLanguage::Rust => "    value\n}\n\n",
    });
}
