"""A project in Ruby: libraries that hide others, and files that Bundler, RubyGems and RBS read."""

from __future__ import annotations

from tests.engines.hostile.trap import Trap

SHADOWS = (
    "json set uri rbs typeprof rubygems did_you_mean error_highlight securerandom socket pathname optparse bundler"
).split()


def project(trap: Trap) -> None:
    trap.ruby(*(f"{folder}{name}.rb" for name in SHADOWS for folder in ("", "lib/")), "Rakefile", "Gemfile", "gems.rb")
    trap.ruby("project.gemspec", ".irbrc", ".pryrc", "bin/typeprof", "config/application.rb", "typeprof/lsp.rb")
    trap.ruby("evil.rb", "rubygems/defaults/operating_system.rb", "rubygems_plugin.rb", "lib/rubygems_plugin.rb")
    for path in ("etc.so", "strscan.so", "lib/strscan.so"):
        trap.native(path)
    trap.write(".rubyopt", "-r./evil.rb\n")
    trap.write(".gemrc", "gem: --norc\n:gemcutter_key: a\n")
    trap.write(".bundle/config", f'---\nBUNDLE_PATH: "{trap.root}/vendor"\nBUNDLE_GEMFILE: "{trap.root}/Gemfile"\n')
    trap.write("Gemfile.lock", "GIT\n  remote: ext::./evil.sh\n  revision: 1\n  specs:\n    evil (1.0)\n")
    trap.write("typeprof.conf.json", '{"typeprof_version": "experimental", "analysis_unit_dirs": ["."]}')
    sources = "sources:\n  - type: git\n    name: evil\n    remote: {0}\n    revision: main\n    repo_dir: gems\n"
    remote = "ext::sh -c ./evil.sh"
    trap.write("rbs_collection.yaml", f"{sources.format(remote)}path: .gem_rbs_collection\n")
    gems = "gems:\n- name: evil\n  version: '1.0'\n  source:\n    type: git\n    name: evil\n    remote: {0}\n"
    gems += "    revision: {1}\n    repo_dir: gems\n- name: json\n  version: '1.0'\n  source:\n    type: rubygems\n"
    trap.write(
        "rbs_collection.lock.yaml",
        f"{sources.format(remote)}path: .gem_rbs_collection\n{gems.format(remote, 'a' * 40)}",
    )
    trap.write("sig/a.rbs", "class A\n  def width: () -> Integer\nend\n")
    body = "class A\n  def width\n    1\n  end\nend\n\n"
    requires = "".join(f'require "{name}"\n' for name in SHADOWS) + 'require_relative "evil"\n'
    trap.ask("b.rb", f"{body}`./evil.sh`\nBEGIN {{ system('./evil.sh') }}\nA.new.|()\n")
    trap.ask("a.rb", f"{requires}{body}A.new.|()\n")
    trap.ask("c.rb", f"def f(\n{body}A.new.|\n")
