//! Mixins: `include` adds methods to objects, `extend` to the class itself.

use crate::fixture::{breaking, referrers};

const FILES: &str = "\
=== lib/helps.rb
module Helps
  def inst_help(n)
    n
  end
  def self.of_module
    1
  end
end
=== lib/finds.rb
module Finds
  def find_all(n)
    n
  end
end
=== lib/tool.rb
require_relative 'helps'
require_relative 'finds'
class Tool
  include Helps
  extend Finds
  def run
    inst_help(1)
  end
  def self.make
    find_all(1)
    new
  end
end
=== lib/late.rb
class Late
  class << self
    include Finds
  end
end
Late.include(Helps)
Late.send(:include, Helps)
class Later < Tool; end
=== app.rb
require_relative 'lib/tool'
Tool.new.inst_help(1)
Tool.find_all(2)
Tool.make.inst_help(3)
tool = Later.new
tool.inst_help(4)
Later.find_all(5)
Late.new.inst_help(6)
Late.find_all(7)
Helps.of_module
=== other.rb
class Other
  def inst_help(n); end
  def self.find_all(n); end
end
Other.new.inst_help(1)
Other.find_all(1)
";

#[test]
fn include_adds_instance_methods_and_extend_adds_class_methods() {
    let lines = |numbers: &[u32]| -> Vec<String> {
        numbers.iter().map(|line| format!("app.rb:{line} Call(1)")).collect()
    };
    let mut inst = lines(&[2, 4, 6, 8]);
    inst.push("lib/tool.rb:7 Call(1)".into());
    assert_eq!(referrers(FILES, "lib/helps.rb", "Helps.inst_help"), inst);
    let mut class = lines(&[3, 7, 9]);
    class.push("lib/tool.rb:10 Call(1)".into());
    assert_eq!(referrers(FILES, "lib/finds.rb", "Finds.find_all"), class);
    assert_eq!(breaking(FILES, "lib/helps.rb", "inst_help", "other_help"), ["app.rb", "lib/tool.rb"]);
    assert_eq!(breaking(FILES, "lib/finds.rb", "find_all", "find_each"), ["app.rb", "lib/tool.rb"]);
    assert_eq!(referrers(FILES, "lib/helps.rb", "Helps.of_module"), ["app.rb:10 Call(0)"]);
}

#[test]
fn included_hook_mixes_in_more_modules() {
    let files = "\
=== lib/a/tagged.rb
module A
  module Tagged
    module ClassMethods
      def tagged_with(n); end
    end
    def self.included(base)
      base.extend(ClassMethods)
    end
    def tag_line; end
  end
end
=== lib/a/tool.rb
module A
  class Tool
    include Comparable, Tagged
  end
end
=== app.rb
A::Tool.tagged_with(1)
A::Tool.new.tag_line
";
    let found = referrers(files, "lib/a/tagged.rb", "A.Tagged.ClassMethods.tagged_with");
    assert_eq!(found, ["app.rb:1 Call(1)"]);
    assert_eq!(referrers(files, "lib/a/tagged.rb", "A.Tagged.tag_line"), ["app.rb:2 Call(0)"]);
}

#[test]
fn a_class_need_not_be_where_custom_has_it() {
    let files = "\
=== tool.rb
puts 1
=== all.rb
module Helps
  def run; end
end
class Tool
  include Helps
end
class One
  def run; end
end
=== app.rb
Tool.new.run
One.new.run
";
    assert_eq!(referrers(files, "all.rb", "Helps.run"), ["app.rb:1 Call(0)"]);
}

#[test]
fn mixin_of_another_gem_is_resolved_in_the_application() {
    let files = "\
=== gems/a/lib/a/helpers.rb
module A
  module Helpers
    def content_kind(name)
      name
    end
  end
end
=== gems/b/lib/b/respond.rb
require 'a/helpers'
module B
  module Respond
    def respond(name)
      content_kind(name)
    end
  end
end
=== gems/b/spec/respond_spec.rb
require 'a/helpers'
RSpec.describe 'it' do
  include A::Helpers
  it { content_kind(1) }
end
=== gems/b/lib/b/own.rb
module B
  module Own
    def run
      content_kind(1)
    end

    def content_kind(a)
      a
    end
  end
end
=== gems/c/lib/c.rb
class C
  def run
    content_kind(1)
  end
end
";
    let broken = breaking(files, "gems/a/lib/a/helpers.rb", "content_kind", "content_sort");
    assert_eq!(broken, ["gems/b/lib/b/respond.rb", "gems/b/spec/respond_spec.rb"]);
}
