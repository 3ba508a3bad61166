<?php

namespace Shop;

use InvalidArgumentException;
use Shop\Model\Item;

class Cart implements \Countable
{
    const RATE = 0.19;

    private array $items = [];

    public function __construct(private string $owner)
    {
    }

    public function add(string $name, float $price = 1.0): self
    {
        if ($price < 0) {
            throw new InvalidArgumentException("negative: $name");
        }
        $this->items[] = new Item($name, $price);
        return $this;
    }

    public function count(): int
    {
        return count($this->items);
    }

    public function total(): float
    {
        $sum = 0;
        foreach ($this->items as $item) {
            $sum += $item->price * (1 + self::RATE);
        }
        return max($sum, 0);
    }
}

function load(string $path): ?Cart
{
    $data = json_decode(file_get_contents($path), true);
    $cart = new Cart($data['owner']);
    foreach ($data['items'] as $name => $price) {
        $cart->add($name, $price);
    }
    return $cart->total() > 1 ? $cart : null;
}
