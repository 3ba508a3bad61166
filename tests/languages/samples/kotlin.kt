// path: src/com/acme/shop/Cart.kt  (what the comments mean: see test_samples.py)
// declares: com.acme.shop Item helper
// declares: com.acme.util Text format
package com.acme.shop

import java.util.Locale
// java IMPORT static java | util IMPORT static java | Locale IMPORT static java.util
import com.acme.util.*
// com IMPORT static com | acme IMPORT static com | util IMPORT static com.acme
import com.acme.io.Reader as Input
// com IMPORT static com | acme IMPORT static com | io IMPORT static com.acme | Reader IMPORT static com.acme.io
import com.acme.io.readAll
// com IMPORT static com | acme IMPORT static com | io IMPORT static com.acme | readAll IMPORT static com.acme.io

@Suppress("unused")
// Suppress TYPE_REFERENCE static kotlin
data class Cart<T : Item>(val owner: String, var total: Int = LIMIT, seed: Int) : Base<T>(seed), Closeable where T : Any {
// Item TYPE_REFERENCE static com.acme.shop | String TYPE_REFERENCE static kotlin | Int TYPE_REFERENCE static kotlin | LIMIT VARIABLE static com.acme.shop | Int TYPE_REFERENCE static kotlin | Base TYPE_REFERENCE | T TYPE_REFERENCE member | seed VARIABLE argument member | Closeable TYPE_REFERENCE | T TYPE_REFERENCE member | Any TYPE_REFERENCE static kotlin
    companion object {
    // KEYWORDS: companion object
        const val NOTE = "none"
        // KEYWORDS: const val
        fun make(): Cart<Item> = Cart(NOTE, total = 1, 2)
        // Cart TYPE_REFERENCE static com.acme.shop | Item TYPE_REFERENCE static com.acme.shop | Cart METHOD_CALL static com.acme.shop | NOTE FIELD argument static com.acme.shop | total ARGUMENT_NAME argument
    }

    private val names: Map<String, T?> by lazy { emptyMap() }
    // Map TYPE_REFERENCE static kotlin.collections | String TYPE_REFERENCE static kotlin | T TYPE_REFERENCE member | lazy METHOD_CALL | emptyMap METHOD_CALL
    val size get() = names.size
    // names FIELD member com.acme.shop | size FIELD member
    val first = seed
    // seed VARIABLE member

    init {
    // KEYWORDS: init
        println("$owner has ${names.size + total} of $NOTE")
        // println METHOD_CALL | owner FIELD argument member com.acme.shop | names FIELD argument member com.acme.shop | size FIELD argument member | total FIELD argument member com.acme.shop | NOTE FIELD argument static com.acme.shop
    }

    override fun <R> each(change: (T) -> R, vararg rest: Int): R {
    // T TYPE_REFERENCE member | R TYPE_REFERENCE member | Int TYPE_REFERENCE static kotlin | R TYPE_REFERENCE member
        val total = rest.first()
        // rest VARIABLE member | first METHOD_CALL
        for ((name, item) in names) {
        // names FIELD member com.acme.shop
            item?.price(name)!!.times(total)
            // item VARIABLE member | price METHOD_CALL | name VARIABLE argument member | times METHOD_CALL | total VARIABLE argument member
        }
        val (one, two) = pair
        // pair VARIABLE
        return change(this.names.values.map { it.copy() }.fold(one) { sum, next -> sum + next })
        // change METHOD_CALL member | names FIELD argument member com.acme.shop | values FIELD argument member | map METHOD_CALL argument | it VARIABLE member | copy METHOD_CALL | fold METHOD_CALL argument | one VARIABLE argument member | sum VARIABLE member | next VARIABLE member
    }

    fun read(input: Input?): String {
    // Input TYPE_REFERENCE static com.acme.io | String TYPE_REFERENCE static kotlin
        try {
        // KEYWORDS: try
            helper(text = format(input), other = Text.EMPTY)
            // helper METHOD_CALL static com.acme.shop | text ARGUMENT_NAME argument | format METHOD_CALL argument static com.acme.util | input VARIABLE argument member | other ARGUMENT_NAME argument | Text TYPE_REFERENCE argument static com.acme.util | EMPTY FIELD argument static com.acme.util
        } catch (error: java.io.IOException) {
        // java IMPORT static java | io IMPORT static java | IOException TYPE_REFERENCE static java.io
            throw IllegalStateException("no ${error.message}")
            // IllegalStateException METHOD_CALL static kotlin | error VARIABLE argument member | message FIELD argument member
        } finally {
        // KEYWORDS: finally
            close()
            // close METHOD_CALL
        }
        val found = when (val kind = readAll()) {
        // readAll METHOD_CALL static com.acme.io
            is String -> kind.length
            // String TYPE_REFERENCE static kotlin | kind VARIABLE member | length FIELD member
            Color.RED, Cart.NOTE -> 2
            // Color TYPE_REFERENCE static com.acme.shop | RED FIELD static com.acme.shop | Cart TYPE_REFERENCE static com.acme.shop | NOTE FIELD static com.acme.shop
            else -> size
            // size FIELD member com.acme.shop
        }
        if (found !in 1..3 || input !is Input) return make().owner
        // found VARIABLE member | input VARIABLE member | Input TYPE_REFERENCE static com.acme.io | make METHOD_CALL static com.acme.shop | owner FIELD member
        val listener = object : Runnable { override fun run() { total += found } }
        // Runnable TYPE_REFERENCE | total FIELD member com.acme.shop | found VARIABLE member
        owner to listener
        // owner FIELD member com.acme.shop | to METHOD_CALL | listener VARIABLE member
        run(::helper, Locale.ROOT, java.util.Locale.US, String::length)
        // run METHOD_CALL | helper METHOD_CALL argument | Locale TYPE_REFERENCE argument static java.util | ROOT FIELD argument static java.util | java IMPORT argument static java | util IMPORT argument static java | Locale TYPE_REFERENCE argument static java.util | US FIELD argument static java.util | String TYPE_REFERENCE argument static kotlin | length METHOD_CALL argument
        return super.toString() as String
        // toString METHOD_CALL | String TYPE_REFERENCE static kotlin
    }

    inner class Part { val whole = this@Cart.total }
    // total FIELD member
}

enum class Color(val code: Int) {
// Int TYPE_REFERENCE static kotlin
    RED(1),
    GREEN(LIMIT);
    // LIMIT VARIABLE argument static com.acme.shop

    fun next() = values()[(ordinal + 1) % entries.size]
    // values METHOD_CALL | ordinal VARIABLE | entries VARIABLE | size FIELD member
}

object Registry { fun add(cart: Cart<*>) { all.add(cart) } }
// Cart TYPE_REFERENCE static com.acme.shop | all VARIABLE static com.acme.shop | add METHOD_CALL | cart VARIABLE argument member

const val LIMIT = 3
// KEYWORDS: const val
val all = mutableListOf<Cart<*>>()
// mutableListOf METHOD_CALL | Cart TYPE_REFERENCE static com.acme.shop

fun Cart<Item>.clear(): Unit = Registry.add(this)
// Cart TYPE_REFERENCE static com.acme.shop | Item TYPE_REFERENCE static com.acme.shop | Unit TYPE_REFERENCE static kotlin | Registry TYPE_REFERENCE static com.acme.shop | add METHOD_CALL static com.acme.shop

typealias Carts = List<Cart<Item>>
// List TYPE_REFERENCE static kotlin.collections | Cart TYPE_REFERENCE static com.acme.shop | Item TYPE_REFERENCE static com.acme.shop
