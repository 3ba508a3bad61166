import { readFile } from "node:fs/promises";
import type { Owner } from "./owner";

const RATE = 0.19;

export interface Item {
  readonly name: string;
  price?: number;
}

export class Cart<T extends Item> implements Iterable<T> {
  private items: T[] = [];

  constructor(public owner: Owner) {}

  [Symbol.iterator](): Iterator<T> {
    return this.items[Symbol.iterator]();
  }

  add(item: T): this {
    this.items.push(item);
    return this;
  }

  get total(): number {
    return this.items.reduce((sum, item) => sum + (item.price ?? 0) * (1 + RATE), 0);
  }
}

export async function load(path: string): Promise<Cart<Item> | undefined> {
  const data = JSON.parse(await readFile(path, "utf8")) as { owner: Owner; items: Item[] };
  const cart = new Cart<Item>(data.owner);
  for (const item of data.items) {
    cart.add({ name: item.name, price: item.price });
  }
  return cart.total > 1 ? cart : undefined;
}
