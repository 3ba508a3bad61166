"""Projects for Java's machine: services, processors, plugins and macros that a compiler might start."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.plugins.adapters.jars import classpath, list_jars
from tests.engines.hostile.trap import Trap

RUN = 'try {{ new java.io.FileOutputStream("{mark}").close(); }} catch (java.io.IOException e) {{ }}'

SERVICES: dict[str, str] = {
    "java.nio.charset.spi.CharsetProvider": """extends java.nio.charset.spi.CharsetProvider {
        public java.util.Iterator<java.nio.charset.Charset> charsets() { return java.util.Collections.emptyIterator(); }
        public java.nio.charset.Charset charsetForName(String name) { return null; }""",
    "java.net.spi.URLStreamHandlerProvider": """extends java.net.spi.URLStreamHandlerProvider {
        public java.net.URLStreamHandler createURLStreamHandler(String protocol) { return null; }""",
    "java.util.spi.ToolProvider": """implements java.util.spi.ToolProvider {
        public String name() { return "javac"; }
        public int run(java.io.PrintWriter out, java.io.PrintWriter err, String... args) { return 0; }""",
    "java.lang.System$LoggerFinder": """extends System.LoggerFinder {
        public System.Logger getLogger(String name, Module module) { return null; }""",
    "javax.annotation.processing.Processor": """extends javax.annotation.processing.AbstractProcessor {
        public boolean process(java.util.Set<? extends javax.lang.model.element.TypeElement> annotations,
            javax.annotation.processing.RoundEnvironment round) { return false; }""",
    "com.sun.source.util.Plugin": """implements com.sun.source.util.Plugin {
        public String getName() { return "evil"; }
        public void init(com.sun.source.util.JavacTask task, String... args) { }
        public boolean autoStart() { return true; }""",
    "java.nio.file.spi.FileSystemProvider": """extends java.nio.file.spi.FileSystemProvider {
        public String getScheme() { return "evil"; }
        public java.nio.file.FileSystem newFileSystem(java.net.URI u, java.util.Map<String, ?> m) { return null; }
        public java.nio.file.FileSystem getFileSystem(java.net.URI u) { return null; }
        public java.nio.file.Path getPath(java.net.URI u) { return null; }
        public java.nio.channels.SeekableByteChannel newByteChannel(java.nio.file.Path p,
            java.util.Set<? extends java.nio.file.OpenOption> o,
            java.nio.file.attribute.FileAttribute<?>... a) { return null; }
        public java.nio.file.DirectoryStream<java.nio.file.Path> newDirectoryStream(java.nio.file.Path p,
            java.nio.file.DirectoryStream.Filter<? super java.nio.file.Path> f) { return null; }
        public void createDirectory(java.nio.file.Path p, java.nio.file.attribute.FileAttribute<?>... a) { }
        public void delete(java.nio.file.Path p) { }
        public void copy(java.nio.file.Path p, java.nio.file.Path q, java.nio.file.CopyOption... o) { }
        public void move(java.nio.file.Path p, java.nio.file.Path q, java.nio.file.CopyOption... o) { }
        public boolean isSameFile(java.nio.file.Path p, java.nio.file.Path q) { return false; }
        public boolean isHidden(java.nio.file.Path p) { return false; }
        public java.nio.file.FileStore getFileStore(java.nio.file.Path p) { return null; }
        public void checkAccess(java.nio.file.Path p, java.nio.file.AccessMode... m) { }
        public <V extends java.nio.file.attribute.FileAttributeView> V getFileAttributeView(java.nio.file.Path p,
            Class<V> c, java.nio.file.LinkOption... o) { return null; }
        public <A extends java.nio.file.attribute.BasicFileAttributes> A readAttributes(java.nio.file.Path p,
            Class<A> c, java.nio.file.LinkOption... o) { return null; }
        public java.util.Map<String, Object> readAttributes(java.nio.file.Path p, String s,
            java.nio.file.LinkOption... o) { return null; }
        public void setAttribute(java.nio.file.Path p, String s, Object v, java.nio.file.LinkOption... o) { }""",
}
KOTLIN = {
    "org.jetbrains.kotlin.compiler.plugin.ComponentRegistrar": """implements
        org.jetbrains.kotlin.compiler.plugin.ComponentRegistrar {
        public boolean getSupportsK2() { return true; }
        public void registerProjectComponents(org.jetbrains.kotlin.com.intellij.mock.MockProject project,
            org.jetbrains.kotlin.config.CompilerConfiguration configuration) { }""",
}
SCALA = """extends scala.tools.nsc.plugins.Plugin {
        public Evil(scala.tools.nsc.Global global) { }
        public String name() { return "evil"; }
        public String description() { return "evil"; }
        public scala.tools.nsc.Global global() { return null; }
        public scala.collection.immutable.List<scala.tools.nsc.plugins.PluginComponent> components() {
            return scala.collection.immutable.List$.MODULE$.empty(); }"""
MACRO = """package %s
import scala.language.experimental.macros
import scala.reflect.macros.blackbox

object M {
  def run: Int = macro impl
  def impl(c: blackbox.Context): c.Tree = {
    new java.io.FileOutputStream("%s").close()
    import c.universe._
    q"1"
  }
}
"""
PLUGIN = "<plugin><name>evil</name><classname>Evil</classname></plugin>\n"
BUILDS = (
    "build.gradle build.gradle.kts settings.gradle.kts build.sbt project/build.sbt evil.kts main.kts a.main.kts a.sc"
).split()


ECLIPSE = {
    ".project": """<projectDescription><name>evil</name><buildSpec><buildCommand>
        <name>org.eclipse.ui.externaltools.ExternalToolBuilder</name><triggers>auto,full,incremental,</triggers>
        <arguments><dictionary><key>LaunchConfigHandle</key>
        <value>&lt;project&gt;/.externalToolBuilders/evil.launch</value></dictionary></arguments>
        </buildCommand></buildSpec><natures><nature>org.eclipse.jdt.core.javanature</nature></natures>
        </projectDescription>""",
    ".externalToolBuilders/evil.launch": """<launchConfiguration
        type="org.eclipse.ui.externaltools.ProgramBuilderLaunchConfigurationType">
        <stringAttribute key="org.eclipse.ui.externaltools.ATTR_LOCATION" value="{root}/evil.sh"/>
        </launchConfiguration>""",
    ".classpath": """<classpath><classpathentry kind="src" path=""/>
        <classpathentry kind="lib" path="."/><classpathentry kind="output" path="bin"/></classpath>""",
    ".factorypath": """<factorypath><factorypathentry kind="EXTJAR" id="{root}" enabled="true"
        runInBatchMode="true"/></factorypath>""",
    ".settings/org.eclipse.jdt.core.prefs": "eclipse.preferences.version=1\n"
    "org.eclipse.jdt.core.compiler.processAnnotations=enabled\n",
    ".settings/org.eclipse.jdt.apt.core.prefs": "org.eclipse.jdt.apt.aptEnabled=true\n"
    "org.eclipse.jdt.apt.reconcileEnabled=true\norg.eclipse.jdt.apt.genSrcDir=.apt_generated\n",
    ".apt_generated/a/Made.java": "package a;\nclass Made {{ }}\n",
    "META-INF/MANIFEST.MF": "Manifest-Version: 1.0\nBundle-ManifestVersion: 2\nBundle-SymbolicName: evil\n"
    "Bundle-Activator: a.Evil\nPremain-Class: a.Evil\nAgent-Class: a.Evil\nLauncher-Agent-Class: a.Evil\n",
    "plugin.xml": """<plugin><extension point="org.eclipse.jdt.core.compilationParticipant">
        <compilationParticipant id="evil" class="a.Evil"/></extension></plugin>""",
    "configuration/config.ini": "osgi.bundles=reference:file:{root}@start\n",
    "eclipse.ini": "-vm\n{root}/evil.sh\n",
}
"""What Eclipse reads of a project it opens, or of the folder it runs in."""


def java(trap: Trap) -> None:
    _common(trap)
    services(trap, SERVICES)
    for path, text in ECLIPSE.items():
        trap.write(path, text.format(root=trap.root))
    trap.write("module-info.java", "module a { uses java.nio.file.spi.FileSystemProvider; }\n")
    _evil_class(trap, trap.root / "a", "java", "Evil", "{", "-d", str(trap.root))
    imports = "package a;\n\nimport java.util.*;\nimport evil.*;\nimport static a.Evil.*;\nimport a.Evil;\n\n"
    annotated = (
        "@Deprecated @evil.Seen class {0} {{ static {{ new Evil(); }} int f(String s, Evil e) {{ return {1}; }} }}\n"
    )
    for name, line in (("B", "s.|"), ("C", "e.|"), ("D", "Evil.|"), ("E", "new Evil().|")):
        trap.ask(f"a/{name}.java", imports + annotated.format(name, line))
    trap.ask("a/F.java", f"{imports}class F {{ int f( {{ Evil.|\n")


def kotlin(trap: Trap) -> None:
    _common(trap)
    services(trap, KOTLIN, jars_of("kotlin"))
    for name, line in (("a", "text.|"), ("b", "Evil().|"), ("c", "broken( text.|")):
        trap.ask(
            f"a/{name}.kt",
            f'@file:Suppress("x")\npackage a\n\nimport java.util.*\n\nfun f{name}(text: String) = {line}\n',
        )
    trap.write("META-INF/kotlin/script/templates/Evil", "")
    trap.write("other.kts", f'java.io.File("{trap.mark("other.kts")}").createNewFile()\n')
    annotations = (
        '@file:Repository("https://127.0.0.1:1/")\n@file:DependsOn("evil:evil:1.0")\n@file:DependsOn("evil.jar")\n'
        '@file:Import("other.kts")\n@file:CompilerOptions("-Xplugin=evil.jar")\n@file:ScriptFileLocation("x")\n'
    )
    for name in ("evil.main.kts", "build.gradle.kts", "settings.gradle.kts", "evil.kts"):
        marked = f'java.io.File("{trap.mark(name)}").createNewFile()\n'
        trap.ask(name, f'{annotations}{marked}val text = ""\ntext.|\n')


def scala(trap: Trap) -> None:
    _common(trap)
    folder = trap.root / "misc" / "scala-devel" / "plugins"
    classes = trap.root / "plugin"
    compiler_plugin(trap, classes)
    shutil.copy(classes / "scalac-plugin.xml", trap.root)
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "evil.jar", "w") as jar:
        for path in classes.iterdir():
            jar.write(path, path.name)
    trap.write("a/M.scala", MACRO % ("a", trap.mark("macro")))
    for name, line in (("A", "text.|"), ("B", "M.run.|"), ("C", "M.|"), ("D", "broken( text.|")):
        trap.ask(f"a/{name}.scala", f"package a\n\nclass {name} {{\n  def f(text: String) = {line}\n}}\n")


def services(trap: Trap, bodies: dict[str, str], jars: str = "") -> None:
    for service, body in bodies.items():
        name = "Evil" + service.rpartition(".")[2].replace("$", "")
        trap.write(f"META-INF/services/{service}", f"evil.{name}\n")
        options = ("-cp", jars) if jars else ("--add-modules", "jdk.compiler")
        _evil_class(trap, trap.root / "evil", service, name, body, *options, "-d", str(trap.root), package="evil")


def compiler_plugin(trap: Trap, folder: Path) -> None:
    """One for Scala, unpacked."""
    _evil_class(
        trap, folder, "scalac-plugin", "Evil", SCALA, "-cp", jars_of("scala"), "-d", str(folder), constructor=""
    )
    (folder / "scalac-plugin.xml").write_text(PLUGIN)


def jars_of(language: str) -> str:
    """The class path of the compiler that is our engine for Kotlin or Scala."""
    engine = engines.CATALOG.load({"kotlin": "kotlin-ide-services", "scala": "scala-presentation-compiler"}[language])
    return classpath(list_jars(engine.install(None, machine.cache_folder()).folder))


def _common(trap: Trap) -> None:
    for path in BUILDS:
        trap.write(path, f'java.io.File("{trap.mark(path)}").createNewFile()\n')
    trap.program("gradlew", "mvnw", "sbt", "java", "bin/java", "jre/bin/java")
    options = f"-XX:OnError={trap.root}/evil.sh -javaagent:{trap.root}/evil.jar\n"
    for path in (".mvn/jvm.config", ".jvmopts", ".hotspotrc", "JDK_JAVA_OPTIONS", ".java_opts", ".sbtopts", "argfile"):
        trap.write(path, options)
    trap.write(".mvn/extensions.xml", "<extensions/>\n")


def _evil_class(
    trap: Trap,
    folder: Path,
    trick: str,
    name: str,
    body: str,
    *options: str,
    package: str = "",
    constructor: str = "{}",
) -> None:
    run = RUN.format(mark=trap.mark(trick))
    own = package or ("a" if folder.name == "a" else "")
    made = f"public {name}() {{ {run} }}" if constructor else ""
    head = f"package {own};\n\n" if own else ""
    source = folder / f"{name}.java"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f"{head}public class {name} {body}\n    static {{ {run} }}\n    {made}\n}}\n")
    subprocess.run(["javac", "-proc:none", "-nowarn", *options, str(source)], check=True)
