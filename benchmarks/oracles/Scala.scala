import dotty.tools.dotc.ast.untpd
import dotty.tools.dotc.ast.untpd.*
import dotty.tools.dotc.core.Contexts.*
import dotty.tools.dotc.core.Names.Name
import dotty.tools.dotc.parsing.{Parsers, Scanners, Tokens}
import dotty.tools.dotc.reporting.StoreReporter
import dotty.tools.dotc.util.SourceFile
import java.nio.charset.StandardCharsets
import java.nio.file.{Files, Path}
import scala.collection.mutable
import scala.io.Source

/** An oracle of Scala: the names and keywords of files, by the untyped trees and the scanner of Scala 3's compiler.
  *
  * Paths are read from standard input, one a line; a line of JSON is written for each: path, and tokens (offset in UTF-16
  * units, text, kind) or error. DEFINITION is the kind of names that refer to nothing; of several kinds between "|", any is
  * right.
  */
object Scala:
  private val soft = Set("derives", "end", "extension", "infix", "inline", "macro", "opaque", "open", "transparent", "using")

  def main(arguments: Array[String]): Unit =
    val base = new ContextBase
    val context: FreshContext = base.initialCtx.fresh
    // Without it, the compiler does not know its own library, and types with `&` or `|` raise an exception.
    context.setSetting(context.settings.Yusejavacp, true)
    base.initialize()(using context)
    for path <- Source.stdin.getLines() do
      val text = String(Files.readAllBytes(Path.of(path)), StandardCharsets.UTF_8)
      // Scala 2 is read with its own syntax; Scala 3 refuses some of it.
      val answers = LazyList("3.9", "3.0-migration").map(version => answer(path, text, version)(using context))
      val result = answers.collectFirst { case Right(tokens) => s"\"tokens\": [${tokens.mkString(", ")}]" }
      println(s"{\"path\": ${quoted(path)}, ${result.getOrElse(s"\"error\": ${quoted(answers.head.swap.getOrElse(""))}")}}")

  /** The tokens of a file, or the error that the parser finds in it. */
  private def answer(path: String, text: String, version: String)(using Context): Either[String, Seq[String]] =
    val source = SourceFile.virtual(path, text)
    val reporter = StoreReporter(null)
    val context = ctx.fresh.setSource(source).setReporter(reporter)
    context.setSetting(context.settings.source, version)
    locally:
      given Context = context
      val tree = Parsers.Parser(source).parse()
      if reporter.hasErrors then Left(reporter.allErrors.head.message)
      else Right(tokens(source, text, Kinds(text).of(tree)))

  private def tokens(source: SourceFile, text: String, kinds: collection.Map[Int, String])(using Context): Seq[String] =
    val scanner = Scanners.Scanner(source)
    val result = mutable.ArrayBuffer[String]()
    var before = Seq(Tokens.EMPTY, Tokens.EMPTY)
    while scanner.token != Tokens.EOF do
      val begin = scanner.offset
      val isQualifier = before.head == Tokens.LBRACKET && Set(Tokens.PRIVATE, Tokens.PROTECTED)(before(1))
      before = Seq(scanner.token, before.head)
      scanner.token match
        case Tokens.IDENTIFIER | Tokens.BACKQUOTED_IDENT =>
          val word = scanner.name.toString
          // Names in backquotes are typed without them.
          val quotes = if scanner.token == Tokens.BACKQUOTED_IDENT then 1 else 0
          if text.startsWith(word, begin + quotes) && isWord(word) then
            // The trees have no place for what is in `private[a]`.
            val otherwise = if isQualifier then "VARIABLE|TYPE_REFERENCE|IMPORT" else if soft(word) then "KEYWORD" else "DEFINITION"
            // In quoted code, `$a` is the code that `a` stands for.
            val dollar = if word.startsWith("$") && kinds.contains(begin + 1) then 1 else 0
            val kind = kinds.getOrElse(begin + dollar, otherwise)
            result += entry(begin + quotes + dollar, word.drop(dollar), kind)
        case Tokens.QUOTEID => result += entry(begin + 1, scanner.name.toString, kinds.getOrElse(begin + 1, kinds.getOrElse(begin, "DEFINITION")))
        // Two words are one token.
        case Tokens.CASECLASS | Tokens.CASEOBJECT =>
          val second = if scanner.token == Tokens.CASECLASS then "class" else "object"
          result += entry(begin, "case", "KEYWORD")
          result += entry(text.indexOf(second, begin), second, "KEYWORD")
        // No token stands in the clause of the package.
        case Tokens.PACKAGE if !text.drop(begin + "package".length).stripLeading.startsWith("object") =>
        case token if Tokens.alphaKeywords.contains(token) =>
          result += entry(begin, text.drop(begin).takeWhile(_.isLetter), "KEYWORD")
        case _ =>
      scanner.nextToken()
    result.toSeq

  private def isWord(name: String): Boolean = name.headOption.exists(c => Character.isUnicodeIdentifierStart(c) || c == '$' || c == '_')

  private def entry(begin: Int, word: String, kind: String): String = s"[$begin, ${quoted(word)}, ${quoted(kind)}]"

  private def quoted(text: String): String =
    text.map(c => if c < ' ' || c == '"' || c == '\\' || c > '~' then f"\\u${c.toInt}%04x" else c.toString).mkString("\"", "", "\"")

/** The kinds of the names in a tree, by their offset. */
class Kinds(text: String)(using Context) extends untpd.UntypedTreeTraverser:
  private val kinds = mutable.HashMap[Int, String]()
  private var isPattern = false

  def of(tree: Tree): collection.Map[Int, String] =
    traverse(tree)
    kinds

  private def put(begin: Int, name: Name, kind: String): Unit =
    // The compiler makes names of its own, such as those of `_`, and empty ones.
    if name.toString.nonEmpty && (text.startsWith(name.toString, begin) || text.startsWith("`" + name, begin)) then kinds.getOrElseUpdate(begin, kind)

  def traverse(tree: Tree)(using Context): Unit = tree match
    case _ if !tree.span.exists && !tree.isInstanceOf[PackageDef] => traverseChildren(tree)
    case PackageDef(_, statements) => statements.foreach(traverse)
    case Import(path, selectors) => imported(path, selectors)
    case Export(path, selectors) => imported(path, selectors)
    case Ident(name) => put(tree.span.start, name, if isPattern && isBound(tree, name) then "DEFINITION" else alone(name))
    case Select(qualifier, name) =>
      put(tree.span.point, name, if name.isTypeName then "TYPE_REFERENCE" else if isPath(qualifier) then "FIELD|TYPE_REFERENCE|IMPORT" else "FIELD")
      receiver(qualifier)
    case Apply(function, arguments) => called(function); inPattern(isPattern)(arguments.foreach(traverse))
    case TypeApply(function, arguments) => called(function); inPattern(false)(arguments.foreach(traverse))
    case InfixOp(left, operator, right) =>
      operator match
        case Ident(name) => put(operator.span.start, name, if name.isTypeName then "TYPE_REFERENCE" else if isPattern then "TYPE_REFERENCE|METHOD_CALL" else "METHOD_CALL")
      traverse(left)
      traverse(right)
    case PostfixOp(value, operator @ Ident(name)) => put(operator.span.start, name, "METHOD_CALL"); traverse(value)
    case PrefixOp(_, value) => traverse(value)
    case NamedArg(name, value) => put(tree.span.start, name, "ARGUMENT_NAME"); traverse(value)
    case CaseDef(pattern, guard, body) => inPattern(true)(traverse(pattern)); inPattern(false) { traverse(guard); traverse(body) }
    case GenFrom(pattern, values, _) => inPattern(true)(traverse(pattern)); inPattern(false)(traverse(values))
    case GenAlias(pattern, value) => inPattern(true)(traverse(pattern)); inPattern(false)(traverse(value))
    case PatDef(modifiers, patterns, type_, value) =>
      annotations(modifiers)
      patterns.foreach {
        // Also one with a capital.
        case _: Ident =>
        case pattern => inPattern(true)(traverse(pattern))
      }
      traverse(type_)
      traverse(value)
    case Typed(value, type_) => traverse(value); inPattern(false)(traverse(type_))
    case InterpolatedString(_, segments) => segments.foreach(traverse)
    // Code in a pattern, in which code is again a pattern.
    case Quote(body, _) => inPattern(false)(traverse(body))
    case SplicePattern(body, types, arguments) => inPattern(true)(traverse(body)); (types ++ arguments).foreach(traverse)
    case This(name) => traverse(name)
    case Super(_, name) => traverse(name)
    case definition: MemberDef =>
      if definition.nameSpan.exists then put(definition.nameSpan.start, definition.name, "DEFINITION")
      annotations(definition.mods)
      inPattern(false)(traverseChildren(tree))
    case Function(_, _) => inPattern(false)(traverseChildren(tree))
    case Block(_, _) => inPattern(false)(traverseChildren(tree))
    case _ => traverseChildren(tree)

  private def alone(name: Name): String = if name.isTypeName then "TYPE_REFERENCE" else "VARIABLE|FIELD|TYPE_REFERENCE"

  private def receiver(tree: Tree): Unit = tree match
    case Ident(name) if name.isTermName => put(tree.span.start, name, "VARIABLE|FIELD|TYPE_REFERENCE|IMPORT")
    case _ => inPattern(false)(traverse(tree))

  private def called(function: Tree): Unit = function match
    case Ident(name) => put(function.span.start, name, if name.isTypeName then "TYPE_REFERENCE" else if isPattern then "TYPE_REFERENCE" else "METHOD_CALL")
    case Select(qualifier, name) =>
      put(function.span.point, name, if name.isTypeName then "TYPE_REFERENCE" else if isPattern then "TYPE_REFERENCE" else "METHOD_CALL")
      receiver(qualifier)
    case _ => traverse(function)

  private def imported(path: Tree, selectors: List[ImportSelector]): Unit =
    def parts(tree: Tree): Unit = tree match
      case Ident(name) => put(tree.span.start, name, "IMPORT")
      case Select(qualifier, name) => put(tree.span.point, name, "IMPORT"); parts(qualifier)
      case _ => traverse(tree)
    parts(path)
    for selector <- selectors do
      parts(selector.imported)
      traverse(selector.bound)

  /** Whether a name in a pattern is new: it begins with a small letter. */
  private def isBound(tree: Tree, name: Name): Boolean =
    name.isTermName && text(tree.span.start) != '`' && (name.toString.head.isLower || name.toString.head == '_')

  private def isPath(tree: Tree): Boolean = tree match
    case Ident(_) => true
    case Select(qualifier, _) => isPath(qualifier)
    case _ => false

  private def annotations(modifiers: Modifiers): Unit = inPattern(false)(modifiers.annotations.foreach(traverse))

  private def inPattern(value: Boolean)(action: => Unit): Unit =
    val before = isPattern
    isPattern = value
    action
    isPattern = before
