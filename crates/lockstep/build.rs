//! Build script: finds the version, lists the files of the plugin, and chooses the linker arguments.

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
