"""A project in PHP: what Composer would load and run, and settings of servers."""

from __future__ import annotations

import json

from tests.engines.hostile.trap import Trap


def project(trap: Trap) -> None:
    trap.php("evil.php", "vendor/autoload.php", "vendor/composer/autoload_real.php", "index.php", "bootstrap/app.php")
    trap.php(".phpstorm.meta.php", "_ide_helper.php", "config/app.php", "phpstan.php", "rector.php", "psalm.php")
    trap.program("vendor/bin/phpstan", "vendor/bin/psalm", "vendor/bin/phpcs", "vendor/bin/php-cs-fixer", "artisan")
    scripts = dict.fromkeys(("post-autoload-dump", "pre-command-run", "init"), "./evil.sh")
    autoload = {"files": ["evil.php"], "psr-4": {"": "./"}}
    trap.write("composer.json", json.dumps({"name": "a/b", "scripts": scripts, "autoload": autoload}))
    settings = {
        "language_server_phpstan.bin": "./evil.sh",
        "php.bin": "./evil.sh",
        "composer.autoloader_path": "evil.php",
    }
    trap.write(".phpactor.json", json.dumps(settings | {"language_server_phpstan.enabled": True}))
    trap.write(
        ".vscode/settings.json",
        json.dumps({"intelephense.runtime": "./evil.sh", "php.validate.executablePath": "./evil.sh"}),
    )
    trap.write("php.ini", f"auto_prepend_file = {trap.root}/evil.php\nextension = ./evil.so\n")
    trap.write(".user.ini", f"auto_prepend_file = {trap.root}/evil.php\n")
    trap.ask("a.php", "<?php\nrequire 'evil.php';\nclass A { public function name() {} }\n$a = new A();\n$a->|;\n")
    trap.ask("b.php", "<?php\ninclude __DIR__ . '/vendor/autoload.php';\nse|\n")
    trap.ask("c.php", "<?php\nfunction (\n$x->|\n")
