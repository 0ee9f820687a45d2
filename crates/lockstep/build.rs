//! What is done before the program is compiled: its version is found, the files of its plugin are listed, and how it is linked is chosen.

#[path = "build/link.rs"]
mod link;
#[path = "build/plugin_files.rs"]
mod plugin_files;
#[path = "build/version.rs"]
mod version;

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rustc-env=LOCKSTEP_VERSION={}", version::version());
    plugin_files::list()?;
    link::link()
}
