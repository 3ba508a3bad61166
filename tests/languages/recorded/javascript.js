import { readFile } from "node:fs/promises";
import path from "node:path";

const RATE = 0.19;

export class Cart extends Map {
  constructor(owner) {
    super();
    this.owner = owner;
  }

  add(name, { price = 1 } = {}) {
    this.set(name, price);
    return this;
  }

  get total() {
    let sum = 0;
    for (const price of this.values()) {
      sum += price * (1 + RATE);
    }
    return Math.max(sum, 0);
  }
}

export async function load(folder) {
  const text = await readFile(path.join(folder, "cart.json"), "utf8");
  const { owner, items } = JSON.parse(text);
  const cart = new Cart(owner);
  items.forEach((item) => cart.add(item.name, { price: item.price }));
  if (cart.total > 1) {
    console.log(`${owner}: ${cart.total.toFixed(2)}`);
  }
  return cart;
}
