//! Turns the tables that ship, which are YAML for people, into JSON for the program: gates read them in every hook, and JSON is read
//! ten times as fast.

use std::{env, error, fs, path::Path};

const TABLES: [&str; 3] = ["_section-definitions", "des-commands", "step-execution-fsm"];

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    for name in TABLES {
        let path = format!("data/{name}.yaml");
        println!("cargo:rerun-if-changed={path}");
        let table: serde_json::Value = serde_saphyr::from_str(&fs::read_to_string(&path)?)?;
        fs::write(Path::new(&out).join(name).with_extension("json"), table.to_string())?;
    }
    Ok(())
}
