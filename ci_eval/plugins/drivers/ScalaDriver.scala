import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Base64, Locale}
import scala.io.{Codec, Source}
import scala.reflect.internal.util.{BatchSourceFile, Position}
import scala.tools.nsc.Settings
import scala.tools.nsc.interactive.{Global, Response}
import scala.tools.nsc.reporters.StoreReporter
import scala.util.control.NonFatal

/** Answers completions by the presentation compiler of Scala 2, a line per question: "OFFSET PATH TEXT" →
  * "MS NAMES": the offset in code points, the other two and the names, one per line, in base64. Its arguments are
  * options of the compiler. Each question gets a compiler of its own: one that was asked before knows more, in another
  * order.
  */
object ScalaDriver {
  def main(arguments: Array[String]): Unit = {
    // Whatever else writes to standard output must not be taken for an answer.
    val answers = System.out
    System.setOut(System.err)
    Console.withOut(System.err) {
      val settings = new Settings()
      settings.processArguments(arguments.toList, processAll = true)
      for (question <- Source.fromInputStream(System.in)(Codec.UTF8).getLines()) {
        val Array(codePoints, path, text) = question.split(' ')
        val compiler = new Global(settings, new StoreReporter(settings))
        answers.println(answer(compiler, codePoints.toInt, decoded(path), decoded(text)))
        compiler.askShutdown()
      }
    }
  }

  private def answer(compiler: Global, codePoints: Int, path: String, text: String): String = {
    try {
      val offset = text.offsetByCodePoints(0, codePoints)
      val source = new BatchSourceFile(path, text.patch(offset, Caret, 0))
      // As in an editor, which has read the file before anything is typed.
      load(compiler, new BatchSourceFile(path, text))
      load(compiler, source)
      val started = System.nanoTime
      val names = complete(compiler, source, text, offset).mkString("\n")
      "%.3f %s".formatLocal(Locale.ROOT, (System.nanoTime - started) / 1e6, encoded(names))
    } catch {
      case NonFatal(error)           => s"error ${encoded(error.toString)}"
      case error: StackOverflowError => s"error ${encoded(error.toString)}"
    }
  }

  private def encoded(text: String): String = Base64.getEncoder.encodeToString(text.getBytes(UTF_8))

  private def decoded(text: String): String = new String(Base64.getDecoder.decode(text), UTF_8)

  /** Where nothing is typed yet the parser would see no name; as the REPL and Metals do. */
  private val Caret = "_CURSOR_ "

  private def asked[T](ask: Response[T] => Unit): Either[T, Throwable] = {
    val response = new Response[T]
    ask(response)
    response.get
  }

  /** While a thread of the compiler works through the new text, classes of the file are now found and now not. An
    * editor lets it do that while its user types.
    */
  private def load(compiler: Global, source: BatchSourceFile): Unit = {
    asked[Unit](compiler.askReload(List(source), _))
    asked[compiler.Tree](compiler.askLoadedTyped(source, keepLoaded = true, _))
  }

  /** The compiler gives a set; here, a type's own members come before inherited ones, those by an implicit conversion last. */
  private def complete(compiler: Global, source: BatchSourceFile, text: String, offset: Int): Seq[String] = {
    import compiler.{Import, Member, Select, Tree, TypeMember}
    val caret = source.position(offset)
    def ofType(at: Position) = asked[List[Member]](compiler.askTypeCompletion(at, _))
    val before = text.take(offset).reverse.dropWhile(Character.isJavaIdentifierPart)
    val members = if (before.startsWith(".")) {
      // Where a call's name is wrong the compiler has no tree for it, but one for the code before the dot.
      ofType(source.position(before.tail.dropWhile(_.isWhitespace).length - 1))
    } else
      asked[Tree](compiler.askTypeAt(caret, _)) match {
        case Left(_: Select | _: Import) => ofType(caret)
        case _                           => asked[List[Member]](compiler.askScopeCompletion(caret, _))
      }
    compiler.ask { () =>
      val ordered = members.fold(identity, throw _).filter(_.accessible).sortBy {
        case each: TypeMember => (each.implicitlyAdded, each.inherited)
        case _                => (false, false)
      }
      ordered.map(_.sym.name.decode.trim).distinct
    }
  }
}
