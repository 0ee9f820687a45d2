//! The Homebrew formula, which downloads a tarball of the same release.

use super::archive::sha256;
use super::target::Target;
use super::{Package, Release};

/// Homebrew's condition for each platform, and the targets that fit it, the best first.
const BLOCKS: [(&str, &str, &[&str]); 4] = [
    ("on_macos", "on_arm", &["aarch64-apple-darwin"]),
    ("on_macos", "on_intel", &["x86_64-apple-darwin"]),
    ("on_linux", "on_arm", &["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"]),
    ("on_linux", "on_intel", &["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"]),
];

/// Renders a formula for the platforms whose tarballs are among the packages.
pub(super) fn formula(release: &Release, packages: &[Package], url: &str) -> Package {
    let mut platforms = String::new();
    for (system, processor, triples) in BLOCKS {
        let tarball = triples.iter().filter_map(|triple| Target::parse(triple).ok()).find_map(|target| {
            let name = format!("lockstep-{}-{target}.tar.gz", release.version);
            packages.iter().find(|package| package.name == name)
        });
        let Some(Package { name, bytes }) = tarball else { continue };
        platforms += &format!(
            "  {system} do\n    {processor} do\n      url \"{url}/{name}\"\n      sha256 \"{}\"\n    end\n  end\n\n",
            sha256(bytes)
        );
    }
    let text = format!(
        r##"class Lockstep < Formula
  desc "Show which files a change breaks"
  version "{}"
  license any_of: ["MIT", "Apache-2.0"]

{platforms}  def install
    bin.install "bin/lockstep"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/lockstep"
    zsh_completion.install "share/zsh/site-functions/_lockstep"
    fish_completion.install "share/fish/vendor_completions.d/lockstep.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/lockstep --version")
  end
end
"##,
        release.version
    );
    Package { name: "lockstep.rb".to_owned(), bytes: text.into_bytes() }
}
