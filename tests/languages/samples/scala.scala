// path: src/com/acme/shop/Cart.scala  (what the comments mean: see test_samples.py)
// declares: com.acme.shop Item helper
// declares: com.acme.util Text format
package com.acme.shop

import java.util.{Locale, Map => JMap}
// java IMPORT static java | util IMPORT static java | Locale IMPORT static java.util | Map IMPORT static java.util
import com.acme.util._
// com IMPORT static com | acme IMPORT static com | util IMPORT static com.acme
import scala.collection.mutable.ArrayBuffer
// scala IMPORT static scala | collection IMPORT static scala | mutable IMPORT static scala.collection | ArrayBuffer IMPORT static scala.collection.mutable

@deprecated("old") case class Cart[T <: Item](owner: String, var total: Int = Cart.LIMIT)(implicit seed: Long)
// deprecated TYPE_REFERENCE | Item TYPE_REFERENCE static com.acme.shop | String TYPE_REFERENCE static java.lang | Int TYPE_REFERENCE static scala | Cart TYPE_REFERENCE static com.acme.shop | LIMIT FIELD static com.acme.shop | Long TYPE_REFERENCE static scala
    extends Base[T](owner) with Closeable { self =>
    // Base TYPE_REFERENCE | T TYPE_REFERENCE member | owner VARIABLE argument member | Closeable TYPE_REFERENCE
  private val names: Map[String, Option[T]] = Map.empty
  // Map TYPE_REFERENCE static scala.collection.immutable | String TYPE_REFERENCE static java.lang | Option TYPE_REFERENCE static scala | T TYPE_REFERENCE member | Map TYPE_REFERENCE static scala.collection.immutable | empty FIELD static scala.collection.immutable
  lazy val (one, two) = pair
  // pair VARIABLE
  type Names = List[String]
  // List TYPE_REFERENCE static scala.collection.immutable | String TYPE_REFERENCE static java.lang

  def each[R](change: T => R, rest: Int*)(implicit order: Ordering[R]): R = {
  // T TYPE_REFERENCE member | R TYPE_REFERENCE member | Int TYPE_REFERENCE static scala | Ordering TYPE_REFERENCE static scala | R TYPE_REFERENCE member | R TYPE_REFERENCE member
    val total = rest.map(_.price).sum
    // rest VARIABLE member | map METHOD_CALL | price FIELD argument member | sum FIELD member
    for {
    // KEYWORDS: for
      (name, item) <- names
      // names FIELD member com.acme.shop
      price = item.price(name) if price > total
      // item VARIABLE member | price METHOD_CALL | name VARIABLE argument member | price VARIABLE member | total VARIABLE member
    } yield item.copy(price = price, next = helper(name))
    // item VARIABLE member | copy METHOD_CALL | price ARGUMENT_NAME argument | price VARIABLE argument member | next ARGUMENT_NAME argument | helper METHOD_CALL argument static com.acme.shop | name VARIABLE argument member
    names.foreach { case (key, Some(value: T)) => log(key, value); case _ => self.close() }
    // names FIELD member com.acme.shop | foreach METHOD_CALL | Some TYPE_REFERENCE static scala | T TYPE_REFERENCE member | log METHOD_CALL | key VARIABLE argument member | value VARIABLE argument member | self VARIABLE member | close METHOD_CALL
    change(this.owner.trim.last)
    // change METHOD_CALL member | owner FIELD argument member com.acme.shop | trim FIELD argument member | last FIELD argument member
  }

  override def toString: String = s"$owner has ${names.size + total} of ${Cart.LIMIT}"
  // String TYPE_REFERENCE static java.lang | owner FIELD member com.acme.shop | names FIELD member com.acme.shop | size FIELD member | total FIELD member com.acme.shop | Cart TYPE_REFERENCE static com.acme.shop | LIMIT FIELD static com.acme.shop

  def read(input: JMap[String, Int]): String = {
  // JMap TYPE_REFERENCE static java.util | String TYPE_REFERENCE static java.lang | Int TYPE_REFERENCE static scala | String TYPE_REFERENCE static java.lang
    try {
    // KEYWORDS: try
      format(input, Locale.ROOT, java.util.Locale.US)
      // format METHOD_CALL static com.acme.util | input VARIABLE argument member | Locale TYPE_REFERENCE argument static java.util | ROOT FIELD argument static java.util | java IMPORT argument static java | util IMPORT argument static java | Locale TYPE_REFERENCE argument static java.util | US FIELD argument static java.util
    } catch {
    // KEYWORDS: catch
      case error: java.io.IOException => throw new IllegalStateException(s"no ${error.getMessage}")
      // java IMPORT static java | io IMPORT static java | IOException TYPE_REFERENCE static java.io | IllegalStateException TYPE_REFERENCE static java.lang | error VARIABLE argument member | getMessage FIELD argument member
    } finally {
    // KEYWORDS: finally
      close()
      // close METHOD_CALL
    }
    val found = input match {
    // input VARIABLE member
      case Cart(owner, _) if owner.nonEmpty => owner
      // Cart TYPE_REFERENCE static com.acme.shop | owner VARIABLE member | nonEmpty FIELD member | owner VARIABLE member
      case Cart.LIMIT | `one` => two
      // Cart TYPE_REFERENCE static com.acme.shop | LIMIT FIELD static com.acme.shop | one FIELD member com.acme.shop | two FIELD member com.acme.shop
      case head :: tail => head
      // head VARIABLE member
      case all @ Text(_*) => all
      // Text TYPE_REFERENCE static com.acme.util | all VARIABLE member
    }
    val buffer = new ArrayBuffer[Int](seed) { def more = size }
    // ArrayBuffer TYPE_REFERENCE static scala.collection.mutable | Int TYPE_REFERENCE static scala | seed FIELD argument member com.acme.shop | size VARIABLE
    buffer += found
    // buffer VARIABLE member | found VARIABLE member
    names contains found
    // names FIELD member com.acme.shop | contains METHOD_CALL | found VARIABLE member
    val add = (x: Int, y: Int) => x + y
    // Int TYPE_REFERENCE static scala | Int TYPE_REFERENCE static scala | x VARIABLE member | y VARIABLE member
    if (found == null) super.toString else found.asInstanceOf[String]
    // found VARIABLE member | toString FIELD | found VARIABLE member | asInstanceOf METHOD_CALL | String TYPE_REFERENCE static java.lang
  }
}

object Cart {
// KEYWORDS: object
  val LIMIT = 3
  // KEYWORDS: val
  def apply(owner: String): Cart[Item] = new Cart(owner, total = LIMIT)(1)
  // String TYPE_REFERENCE static java.lang | Cart TYPE_REFERENCE static com.acme.shop | Item TYPE_REFERENCE static com.acme.shop | Cart TYPE_REFERENCE static com.acme.shop | owner VARIABLE argument member | total ARGUMENT_NAME argument | LIMIT FIELD argument static com.acme.shop
  implicit class Ops(val text: String) extends AnyVal { def shout = text.toUpperCase }
  // String TYPE_REFERENCE static java.lang | AnyVal TYPE_REFERENCE static scala | text FIELD member com.acme.shop | toUpperCase FIELD member
}

sealed trait Color { def code: Int }
// Int TYPE_REFERENCE static scala
case object Red extends Color { val code = Cart.LIMIT }
// Color TYPE_REFERENCE static com.acme.shop | Cart TYPE_REFERENCE static com.acme.shop | LIMIT FIELD static com.acme.shop
