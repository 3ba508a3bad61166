package shop

import scala.collection.mutable
import java.io.{File, IOException}

case class Item(name: String, price: Double = 1.0)

trait Priced {
  def total: Double
}

class Cart(val owner: String) extends Priced {
  private val items = mutable.ListBuffer.empty[Item]

  def add(name: String, price: Double): this.type = {
    items += Item(name, price = price)
    this
  }

  override def total: Double = {
    var sum = 0.0
    for (item <- items if item.price > 0) {
      sum += item.price * (1 + Cart.Rate)
    }
    math.max(sum, items.map(_.price).sum)
  }
}

object Cart {
  val Rate = 0.19

  def load(path: String): Option[Cart] = {
    val cart = new Cart(path)
    new File(path).listFiles().foreach { file => cart.add(file.getName, 1.0) }
    cart.total match {
      case total if total > 1 => Some(cart)
      case _ => None
    }
  }
}
