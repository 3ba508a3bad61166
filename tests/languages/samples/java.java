// path: src/com/acme/shop/Cart.java  (what the comments mean: see test_samples.py)
// declares: com.acme.shop Item Money
// declares: com.acme.util Text
package com.acme.shop;

import java.util.List;
// java IMPORT static java | util IMPORT static java | List IMPORT static java.util
import java.util.Map.Entry;
// java IMPORT static java | util IMPORT static java | Map IMPORT static java.util | Entry IMPORT static java.util
import com.acme.util.*;
// com IMPORT static com | acme IMPORT static com | util IMPORT static com.acme
import static java.lang.Math.max;
// java IMPORT static java | lang IMPORT static java | Math IMPORT static java.lang | max IMPORT static java.lang

@SuppressWarnings(value = {"unchecked", Cart.NOTE})
// SuppressWarnings TYPE_REFERENCE static java.lang | value ARGUMENT_NAME argument | Cart TYPE_REFERENCE argument static com.acme.shop | NOTE FIELD argument static com.acme.shop
public abstract class Cart<T extends Item> extends Base<T> implements Comparable<Cart<T>>, java.io.Serializable {
// Item TYPE_REFERENCE static com.acme.shop | Base TYPE_REFERENCE | T TYPE_REFERENCE member | Comparable TYPE_REFERENCE static java.lang | Cart TYPE_REFERENCE static com.acme.shop | T TYPE_REFERENCE member | java IMPORT static java | io IMPORT static java | Serializable TYPE_REFERENCE static java.io
    static final String NOTE = "none";
    // String TYPE_REFERENCE static java.lang
    private int count, total = max(LIMIT, 1);
    // max METHOD_CALL static java.lang | LIMIT FIELD argument static com.acme.shop
    public static int LIMIT = 7;
    // KEYWORDS: public static int

    enum Size {
    // KEYWORDS: enum
        SMALL(1), LARGE(LIMIT) {
        // LIMIT FIELD argument static com.acme.shop
            @Override int weight() { return count(); }
            // Override TYPE_REFERENCE static java.lang | count METHOD_CALL
        };
        private final int weight;
        // KEYWORDS: private final int
        Size(int weight) { this.weight = weight; }
        // weight FIELD member com.acme.shop | weight VARIABLE member
        int weight() { return weight; }
        // weight FIELD member com.acme.shop
        static Size parse(String text) { return valueOf(text.trim()); }
        // Size TYPE_REFERENCE static com.acme.shop | String TYPE_REFERENCE static java.lang | valueOf METHOD_CALL | text VARIABLE argument member | trim METHOD_CALL argument member
    }

    record Line(Item item, int amount) {
    // Item TYPE_REFERENCE static com.acme.shop
        Line {
            if (amount < 0) throw new IllegalArgumentException("bad " + amount);
            // amount VARIABLE member | IllegalArgumentException TYPE_REFERENCE static java.lang | amount VARIABLE argument member
        }
        Money price() { return item.price().times(amount()); }
        // Money TYPE_REFERENCE static com.acme.shop | item FIELD member com.acme.shop | price METHOD_CALL member | times METHOD_CALL member | amount METHOD_CALL argument member com.acme.shop
    }

    protected Cart(int count) {
    // KEYWORDS: protected int
        super(count);
        // count VARIABLE argument member
        this.count = count;
        // count FIELD member com.acme.shop | count VARIABLE member
        total += this.count;
        // total FIELD member com.acme.shop | count FIELD member com.acme.shop
    }

    <R> R each(List<? extends Entry<String, R>> lines, final java.util.function.Function<T, R> f) throws Failure {
    // R TYPE_REFERENCE member | List TYPE_REFERENCE static java.util | Entry TYPE_REFERENCE static java.util | String TYPE_REFERENCE static java.lang | R TYPE_REFERENCE member | java IMPORT static java | util IMPORT static java | function IMPORT static java.util | Function TYPE_REFERENCE static java.util.function | T TYPE_REFERENCE member | R TYPE_REFERENCE member | Failure TYPE_REFERENCE
        int count = 0;
        // KEYWORDS: int
        for (Entry<String, R> line : lines) {
        // Entry TYPE_REFERENCE static java.util | String TYPE_REFERENCE static java.lang | R TYPE_REFERENCE member | lines VARIABLE member
            count += line.getKey().length();
            // count VARIABLE member | line VARIABLE member | getKey METHOD_CALL member | length METHOD_CALL member
        }
        outer:
        for (int i = 0, n = lines.size(); i < n; i++) {
        // lines VARIABLE member | size METHOD_CALL member | i VARIABLE member | n VARIABLE member | i VARIABLE member
            if (i == count) break outer;
            // i VARIABLE member | count VARIABLE member
        }
        try (Reader reader = Text.open(NOTE); other) {
        // Reader TYPE_REFERENCE | Text TYPE_REFERENCE static com.acme.util | open METHOD_CALL static com.acme.util | NOTE FIELD argument static com.acme.shop | other FIELD
            reader.read(buffer, lines.get(0).getValue());
            // reader VARIABLE member | read METHOD_CALL member | buffer FIELD argument | lines VARIABLE argument member | get METHOD_CALL argument member | getValue METHOD_CALL argument member
        } catch (Failure | RuntimeException error) {
        // Failure TYPE_REFERENCE | RuntimeException TYPE_REFERENCE static java.lang
            throw error;
            // error VARIABLE member
        } finally {
        // KEYWORDS: finally
            close();
            // close METHOD_CALL
        }
        Runnable task = () -> log(total);
        // Runnable TYPE_REFERENCE static java.lang | log METHOD_CALL | total FIELD argument member com.acme.shop
        Function<T, Size> sizes = item -> item.size, more = Size::valueOf;
        // Function TYPE_REFERENCE | T TYPE_REFERENCE member | Size TYPE_REFERENCE static com.acme.shop | item VARIABLE member | size FIELD member | Size TYPE_REFERENCE static com.acme.shop | valueOf METHOD_CALL com.acme.shop
        run(x -> x.go(), Cart::new, new Line(null, total) { int extra = amount; }, (T) lines);
        // run METHOD_CALL | x VARIABLE member | go METHOD_CALL member | Cart TYPE_REFERENCE argument static com.acme.shop | Line TYPE_REFERENCE argument static com.acme.shop | total FIELD argument member com.acme.shop | amount FIELD | T TYPE_REFERENCE argument member | lines VARIABLE argument member
        var size = Size.parse("x");
        // Size TYPE_REFERENCE static com.acme.shop | parse METHOD_CALL static com.acme.shop
        switch (size) {
        // size VARIABLE member
            case SMALL: return null;
            // SMALL FIELD
            case LARGE:
            // LARGE FIELD
            default: Cart.LIMIT = Size.LARGE.weight;
            // Cart TYPE_REFERENCE static com.acme.shop | LIMIT FIELD static com.acme.shop | Size TYPE_REFERENCE static com.acme.shop | LARGE FIELD static com.acme.shop | weight FIELD member
        }
        Object o = lines;
        // Object TYPE_REFERENCE static java.lang | lines VARIABLE member
        if (o instanceof String s && s.isEmpty()) {
        // o VARIABLE member | String TYPE_REFERENCE static java.lang | s VARIABLE member | isEmpty METHOD_CALL member
            return java.util.Optional.of(s).get().value;
            // java IMPORT static java | util IMPORT static java | Optional TYPE_REFERENCE static java.util | of METHOD_CALL static java.util | s VARIABLE argument member | get METHOD_CALL member | value FIELD member
        }
        int[] sums = new int[LIMIT];
        // LIMIT FIELD static com.acme.shop
        sums[count] = Cart.this.count + Integer.MAX_VALUE + sums.length;
        // sums VARIABLE member | count VARIABLE member | Cart TYPE_REFERENCE static com.acme.shop | count FIELD member | Integer TYPE_REFERENCE static java.lang | MAX_VALUE FIELD static java.lang | sums VARIABLE member | length FIELD member
        assert total > 0 : """
        // total FIELD member com.acme.shop
            no "count" in here""";
        return super.each(lines, f);
        // each METHOD_CALL | lines VARIABLE argument member | f VARIABLE argument member
    }

    abstract Text text();
    // Text TYPE_REFERENCE static com.acme.util

    class Inner {
    // KEYWORDS: class
        int total = Cart.this.total + count;
        // Cart TYPE_REFERENCE static com.acme.shop | total FIELD member | count FIELD member com.acme.shop
    }
}
