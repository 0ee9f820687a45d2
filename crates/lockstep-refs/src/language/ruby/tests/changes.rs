//! Ruby: breaks by changes other than that of the written name.

use crate::fixture::{breaking, dependents};

const FILES: &str = r#"
=== lib/acme/shape.rb
module Acme
  class Shape
    LIMIT = 3
    def initialize(label)
      @label = label
    end
  end
end
=== lib/acme/circle.rb
module Acme
  class Circle < Shape
    def radius; 1; end
  end
end
=== lib/acme/square.rb
module Acme
  class Square < Shape
    def initialize
      super('square')
    end
  end
end
=== bin/round.rb
Acme::Circle.new('x')
=== bin/square.rb
Acme::Square.new
"#;

#[test]
fn a_constructor_is_that_of_who_extends_and_has_none() {
    let broken = breaking(FILES, "lib/acme/shape.rb", "initialize(label)", "initialize(label, size)");
    assert_eq!(broken, ["bin/round.rb", "lib/acme/square.rb"]);
}

#[test]
fn namespace_module_has_no_dependents() {
    // Each file reopens it; only its content changes.
    assert_eq!(dependents(FILES, "lib/acme/circle.rb", "def radius; 1; end", "SIDES = 0"), ["bin/round.rb"]);
    let renamed = breaking(FILES, "lib/acme/shape.rb", "module Acme", "module Apex");
    assert_eq!(renamed, ["bin/round.rb", "lib/acme/circle.rb", "lib/acme/square.rb"]);
}

#[test]
fn a_constant_of_a_library_is_not_ours() {
    let files = "\
=== lib/kit/version.rb
module Kit
  VERSION = '1'
end
=== lib/other.rb
module Other
  def self.run
    Rails::VERSION
  end
end
=== lib/kit.rb
require_relative 'kit/version'
module Kit
  def self.run
    VERSION
  end
end
";
    assert_eq!(breaking(files, "lib/kit/version.rb", "VERSION", "NUMBER"), ["lib/kit.rb"]);
    assert_eq!(dependents(files, "lib/kit/version.rb", "VERSION", "NUMBER"), ["lib/kit.rb"]);
}
