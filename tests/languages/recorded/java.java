package shop;

import java.util.ArrayList;
import java.util.List;

public class Cart<T extends Item> implements Priced {
    private static final double RATE = 0.19;
    private final List<T> items = new ArrayList<>();
    private String owner;

    public Cart(String owner) {
        this.owner = owner;
    }

    @Override
    public double total() {
        double sum = 0;
        for (T item : items) {
            sum += item.price * (1 + RATE);
        }
        return items.stream().mapToDouble(i -> i.price).sum() + Math.max(sum, 0);
    }

    public boolean add(T item) throws IllegalStateException {
        if (item == null || items.contains(item)) {
            throw new IllegalStateException("twice: " + owner);
        }
        try {
            return items.add(item);
        } catch (RuntimeException error) {
            System.out.println(error.getMessage());
        }
        return false;
    }
}
