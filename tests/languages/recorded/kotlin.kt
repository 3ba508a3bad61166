package shop

import java.io.File
import kotlin.math.max

const val RATE = 0.19

data class Item(val name: String, var price: Double = 1.0)

class Cart(private val owner: String) : Iterable<Item> {
    private val items = mutableListOf<Item>()

    override fun iterator(): Iterator<Item> = items.iterator()

    fun add(name: String, price: Double): Cart {
        items.add(Item(name, price = price))
        return this
    }

    fun total(): Double {
        var sum = 0.0
        for (item in items) {
            if (item.price > 0) sum += item.price * (1 + RATE)
        }
        return max(sum, items.sumOf { it.price })
    }
}

fun load(path: String): Cart? {
    val lines = File(path).readLines()
    val cart = Cart(owner = lines.firstOrNull() ?: return null)
    lines.drop(1).forEach { line -> cart.add(line, 1.0) }
    return when {
        cart.total() > 1 -> cart
        else -> null
    }
}
