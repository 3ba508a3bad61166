// path: src/shop/cart.js  (what the comments mean: see test_samples.py)
// declares: src/shop/util helper
import base, { one, two as three } from "./util.js";
// one IMPORT static src/shop/util | two IMPORT static src/shop/util
import * as ns from "react";
const { join, sep: separator } = require("path");
// sep FIELD static path | require METHOD_CALL static global
const fs = require("fs");
// require METHOD_CALL static global

export { one, later as other };
// one VARIABLE static src/shop/util | later VARIABLE static src/shop/cart
export { five as six } from "../six";
// five IMPORT static src/six

export default class Cart extends base.Parent {
// base VARIABLE static src/shop/util | Parent TYPE_REFERENCE
  #secret = one;
  // one VARIABLE static src/shop/util
  static count = 0;
  // KEYWORDS: static
  size = join(Cart.count);
  // join METHOD_CALL static path | Cart TYPE_REFERENCE argument static src/shop/cart | count FIELD argument static src/shop/cart

  constructor(items, { tax = base, ...rest } = {}) {
  // base VARIABLE static src/shop/util
    super(items);
    // items VARIABLE argument member
    this.items = items;
    // items VARIABLE member
    this.items = this.items.map((item) => item.price).reduce(add, 0);
    // items FIELD member src/shop/cart | items FIELD member src/shop/cart | map METHOD_CALL | item VARIABLE member | price FIELD | reduce METHOD_CALL | add VARIABLE argument static src/shop/cart
    this.#secret = rest;
    // #secret FIELD member src/shop/cart | rest VARIABLE member
  }

  get first() {
  // KEYWORDS: get
    return this.items[0]?.name ?? `none ${tax} of ${this.size + helper}`;
    // items FIELD member src/shop/cart | name FIELD | tax VARIABLE | size FIELD member src/shop/cart | helper VARIABLE
  }

  static make() {
  // KEYWORDS: static
    return new Cart([], this.count);
    // Cart TYPE_REFERENCE static src/shop/cart | count FIELD argument static src/shop/cart
  }

  async *each(size) {
  // KEYWORDS: async
    for await (const item of this.items) yield item;
    // items FIELD member src/shop/cart | item VARIABLE member
    for (let i = 0, n = fs.readdirSync(separator).length; i < n; i++) {
    // fs VARIABLE static fs | readdirSync METHOD_CALL static fs | separator VARIABLE argument static path | length FIELD | i VARIABLE member | n VARIABLE member | i VARIABLE member
      if (i === size) continue;
      // i VARIABLE member | size VARIABLE member
    }
    const [head, { key: value, short }] = await this.read();
    // key FIELD | read METHOD_CALL member
    return { head, value, [short]: 1, go() { return this.size; } };
    // head VARIABLE member | value VARIABLE member | short VARIABLE member | size FIELD member src/shop/cart
  }
}

function add(a, b = one) {
// one VARIABLE static src/shop/util
  return a + b;
  // a VARIABLE member | b VARIABLE member
}

try {
// KEYWORDS: try
  ns.render(base, Math.PI, undefined, null);
  // ns VARIABLE static react | render METHOD_CALL static react | base VARIABLE argument static src/shop/util | Math VARIABLE argument static global | PI FIELD argument static global | undefined VARIABLE argument static global
} catch ({ message }) {
// KEYWORDS: catch
  console.log(message, typeof later, new ns.Thing(later));
  // console VARIABLE static global | log METHOD_CALL static global | message VARIABLE argument member | later VARIABLE argument static src/shop/cart | ns VARIABLE argument static react | Thing TYPE_REFERENCE argument static react | later VARIABLE argument static src/shop/cart
}

const later = function named(x) { return named(x.y.z()); };
// named METHOD_CALL member | x VARIABLE argument member | y FIELD argument | z METHOD_CALL argument
var short = (x) => x instanceof Cart && tag`a${x}`;
// x VARIABLE member | Cart TYPE_REFERENCE static src/shop/cart | tag METHOD_CALL | x VARIABLE member
module.exports.run = short;
// module VARIABLE static global | exports FIELD member global | short VARIABLE static src/shop/cart
unknown.thing(later).rest = add;
// unknown VARIABLE | thing METHOD_CALL | later VARIABLE argument static src/shop/cart | rest FIELD | add VARIABLE static src/shop/cart

outer: switch (short) {
// short VARIABLE static src/shop/cart
  case later:
  // later VARIABLE static src/shop/cart
    break outer;
    // outer VARIABLE member
  default:
  // KEYWORDS: default
    delete Cart.count;
    // Cart TYPE_REFERENCE static src/shop/cart | count FIELD static src/shop/cart
}
