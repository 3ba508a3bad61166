// path: src/shop/cart.ts  (what the comments mean: see test_samples.py)
// declares: src/shop/types Item
import type { Item } from "./types";
// Item IMPORT static src/shop/types
import { Observable, of as just } from "rxjs";
// Observable IMPORT static rxjs | of IMPORT static rxjs
import fs = require("fs");

export interface Priced<T extends Item = Item> extends Base<T>, ns.Other {
// Item TYPE_REFERENCE static src/shop/types | Item TYPE_REFERENCE static src/shop/types | Base TYPE_REFERENCE | T TYPE_REFERENCE member | ns VARIABLE | Other TYPE_REFERENCE
  readonly price: number;
  // KEYWORDS: readonly number
  name?: string | undefined;
  total(rate: Rate, ...rest: T[]): Promise<Array<T>>;
  // Rate TYPE_REFERENCE | T TYPE_REFERENCE member | Promise TYPE_REFERENCE static global | Array TYPE_REFERENCE static global | T TYPE_REFERENCE member
  [key: string]: unknown;
  // KEYWORDS: string unknown
}

export type Keys<K> = { [P in keyof K]?: K[P] extends (infer U)[] ? U : never };
// K TYPE_REFERENCE member | K TYPE_REFERENCE member | P TYPE_REFERENCE member | U TYPE_REFERENCE member
type Pair = [first: Item, second: Keys<Item>];
// Item TYPE_REFERENCE static src/shop/types | Keys TYPE_REFERENCE static src/shop/cart | Item TYPE_REFERENCE static src/shop/types

export enum Color {
// KEYWORDS: export enum
  Red = 1,
  Green = Red << LIMIT,
  // Red FIELD static src/shop/cart | LIMIT VARIABLE static src/shop/cart
}

const LIMIT: number = 3;
// KEYWORDS: const number

export abstract class Cart<T> extends Base<T> implements Priced<Item> {
// Base TYPE_REFERENCE | T TYPE_REFERENCE member | Priced TYPE_REFERENCE static src/shop/cart | Item TYPE_REFERENCE static src/shop/types
  private static instance?: Cart<Item>;
  // Cart TYPE_REFERENCE static src/shop/cart | Item TYPE_REFERENCE static src/shop/types
  protected items: T[] = [];
  // T TYPE_REFERENCE member

  constructor(private readonly owner: string, public seed = LIMIT) {
  // LIMIT VARIABLE static src/shop/cart
    super(owner);
    // owner VARIABLE argument member
    this.items = [];
    // items FIELD member src/shop/cart
  }

  get size(): number { return this.items.length + this.seed; }
  // items FIELD member src/shop/cart | length FIELD | seed FIELD member

  static of<U>(this: void, value: U): Cart<U> {
  // U TYPE_REFERENCE member | Cart TYPE_REFERENCE static src/shop/cart | U TYPE_REFERENCE member
    return (Cart.instance ?? value) as unknown as Cart<U>;
    // Cart TYPE_REFERENCE static src/shop/cart | instance FIELD static src/shop/cart | value VARIABLE member | Cart TYPE_REFERENCE static src/shop/cart | U TYPE_REFERENCE member
  }

  abstract read(path: string): Observable<Item>;
  // Observable TYPE_REFERENCE static rxjs | Item TYPE_REFERENCE static src/shop/types

  each<R>(change: (item: T, index: number) => R, options?: { deep: boolean }): R[] {
  // T TYPE_REFERENCE member | R TYPE_REFERENCE member | R TYPE_REFERENCE member
    const found = this.items.map((item, i) => change(item, i));
    // items FIELD member src/shop/cart | map METHOD_CALL | change METHOD_CALL member | item VARIABLE argument member | i VARIABLE argument member
    for (const [key, value] of Object.entries(options!)) {
    // Object TYPE_REFERENCE static global | entries METHOD_CALL static global | options VARIABLE argument member
      just(key, value as any).pipe<R>(found);
      // just METHOD_CALL static rxjs | key VARIABLE argument member | value VARIABLE argument member | pipe METHOD_CALL | R TYPE_REFERENCE member | found VARIABLE argument member
    }
    return isItem(found) ? [] : (found satisfies R[]);
    // isItem METHOD_CALL static src/shop/cart | found VARIABLE argument member | found VARIABLE member | R TYPE_REFERENCE member
  }
}

function isItem(value: unknown): value is Item {
// value VARIABLE member | Item TYPE_REFERENCE static src/shop/types
  return value instanceof Cart && typeof value === "object";
  // value VARIABLE member | Cart TYPE_REFERENCE static src/shop/cart | value VARIABLE member
}

declare module "rxjs" { interface Extra { more: Item } }
// Item TYPE_REFERENCE static src/shop/types
namespace Inner { export const deep = new Cart<typeof LIMIT>(Color.Red, `${LIMIT}`); }
// Cart TYPE_REFERENCE static src/shop/cart | LIMIT VARIABLE static src/shop/cart | Color TYPE_REFERENCE argument static src/shop/cart | Red FIELD argument static src/shop/cart | LIMIT VARIABLE argument static src/shop/cart
export default Inner.deep;
// Inner VARIABLE static src/shop/cart | deep FIELD static src/shop/cart
