// path: shop/src/cart.rs  (what the comments mean: see test_samples.py)
// declares: shop::cart Order total
// declares: shop::store Store open
#![allow(dead_code)]
// allow METHOD_CALL
use std::collections::{hash_map::Entry, HashMap as Map};
// std IMPORT static | collections IMPORT static std | hash_map IMPORT static std::collections | Entry IMPORT static std::collections::hash_map | HashMap IMPORT static std::collections
use std::fmt::{self, Display, Write as _};
// std IMPORT static | fmt IMPORT static std | Display IMPORT static std::fmt | Write IMPORT static std::fmt
use std::io::*;
// std IMPORT static | io IMPORT static std
use crate::store::{open, Store};
// store IMPORT static shop | open IMPORT static shop::store | Store IMPORT static shop::store
use super::tax::rate;
// tax IMPORT static shop | rate IMPORT static shop::tax
use serde::Serialize;
// serde IMPORT static | Serialize IMPORT static serde
extern crate alloc as memory;
// alloc IMPORT static

pub mod inner {
    pub const LIMIT: usize = 3;
    // usize TYPE_REFERENCE static std
    pub(in crate::cart) fn limit() -> usize {
    // cart FIELD static | usize TYPE_REFERENCE static std
        LIMIT + super::RATE as usize
        // LIMIT VARIABLE static shop::cart | RATE FIELD static | usize TYPE_REFERENCE static std
    }
}

const RATE: u32 = 19;
// u32 TYPE_REFERENCE static std
static mut COUNT: Option<usize> = None;
// Option TYPE_REFERENCE static std | usize TYPE_REFERENCE static std | None TYPE_REFERENCE static std
type Prices<'a> = Map<&'a str, [f64; inner::LIMIT]>;
// Map TYPE_REFERENCE static std::collections | str TYPE_REFERENCE static std | f64 TYPE_REFERENCE static std | inner VARIABLE static shop::cart | LIMIT FIELD static shop::cart

#[derive(Debug, Clone, serde::Deserialize)]
// derive METHOD_CALL | Debug TYPE_REFERENCE | Clone TYPE_REFERENCE static std | serde VARIABLE static | Deserialize TYPE_REFERENCE
pub struct Item<T: Display = String, const N: usize = 1> {
// Display TYPE_REFERENCE static std::fmt | String TYPE_REFERENCE static std | usize TYPE_REFERENCE static std
    pub name: T,
    // T TYPE_REFERENCE member
    price: f64,
    // f64 TYPE_REFERENCE static std
    old: [f64; N],
    // f64 TYPE_REFERENCE static std | N VARIABLE member
}

#[derive(Default)]
// derive METHOD_CALL | Default TYPE_REFERENCE static std
struct Pair(u8, pub Item);
// u8 TYPE_REFERENCE static std | Item TYPE_REFERENCE static shop::cart

pub enum Size {
    Small = 1,
    Named(String, Box<Item>),
    // String TYPE_REFERENCE static std | Box TYPE_REFERENCE static std | Item TYPE_REFERENCE static shop::cart
    Other { width: u32 },
    // u32 TYPE_REFERENCE static std
}

pub trait Priced: Display + Send {
// Display TYPE_REFERENCE static std::fmt | Send TYPE_REFERENCE static std
    type Key: Eq;
    // Eq TYPE_REFERENCE static std
    const ZERO: f64 = 0.0;
    // f64 TYPE_REFERENCE static std
    fn price(&self, rate: f64) -> f64;
    // f64 TYPE_REFERENCE static std | f64 TYPE_REFERENCE static std
    fn twice(&self) -> f64 {
    // f64 TYPE_REFERENCE static std
        self.price(Self::ZERO) * 2.0
        // price METHOD_CALL member shop::cart | ZERO FIELD argument static
    }
}

impl<T: Display> Item<T> {
// Display TYPE_REFERENCE static std::fmt | Item TYPE_REFERENCE static shop::cart | T TYPE_REFERENCE member
    const EMPTY: &'static str = "";
    // str TYPE_REFERENCE static std

    pub fn new(name: T, price: f64) -> Self {
    // T TYPE_REFERENCE member | f64 TYPE_REFERENCE static std
        let price = price.max(0.0);
        // price VARIABLE member | max METHOD_CALL member
        Self { name, price, old: [0.0] }
        // name VARIABLE member | price VARIABLE member | old FIELD member
    }

    fn label(&mut self, size: &Size) -> Result<String, fmt::Error> {
    // Size TYPE_REFERENCE static shop::cart | Result TYPE_REFERENCE static std | String TYPE_REFERENCE static std | fmt VARIABLE static std | Error TYPE_REFERENCE static std::fmt
        let mut text = String::with_capacity(LIMIT_OF);
        // String TYPE_REFERENCE static std | with_capacity METHOD_CALL static std | LIMIT_OF VARIABLE argument
        write!(text, "{} {width}", self.name, width = RATE)?;
        // write METHOD_CALL static std | text VARIABLE argument member | name FIELD argument member shop::cart | width ARGUMENT_NAME argument | RATE VARIABLE argument static shop::cart
        match size {
        // size VARIABLE member
            Size::Small => text.push('s'),
            // Size TYPE_REFERENCE static shop::cart | Small FIELD static shop::cart | text VARIABLE member | push METHOD_CALL member
            Size::Named(name, item) if name.len() > 1 => text += &item.name,
            // Size TYPE_REFERENCE static shop::cart | Named TYPE_REFERENCE static shop::cart | name VARIABLE member | len METHOD_CALL member | text VARIABLE member | item VARIABLE member | name FIELD member
            Size::Other { width: w @ 1..=9 } | Size::Other { width: w } => drop(w),
            // Size TYPE_REFERENCE static shop::cart | Other TYPE_REFERENCE static shop::cart | width FIELD member | Size TYPE_REFERENCE static shop::cart | Other TYPE_REFERENCE static shop::cart | width FIELD member | drop METHOD_CALL static std | w VARIABLE argument member
        }
        self.price = self.price.powi(2);
        // price FIELD member shop::cart | price FIELD member shop::cart | powi METHOD_CALL member
        Ok(text)
        // Ok METHOD_CALL static std | text VARIABLE argument member
    }
}

impl<T> Priced for Item<T> where T: Display + Send, Vec<T>: IntoIterator<Item = T> {
// Priced TYPE_REFERENCE static shop::cart | Item TYPE_REFERENCE static shop::cart | T TYPE_REFERENCE member | T TYPE_REFERENCE member | Display TYPE_REFERENCE static std::fmt | Send TYPE_REFERENCE static std | Vec TYPE_REFERENCE static std | T TYPE_REFERENCE member | IntoIterator TYPE_REFERENCE static std | Item TYPE_REFERENCE | T TYPE_REFERENCE member
    type Key = u8;
    // u8 TYPE_REFERENCE static std
    fn price(&self, rate: f64) -> f64 {
    // f64 TYPE_REFERENCE static std | f64 TYPE_REFERENCE static std
        rate * <Self as Priced>::ZERO
        // rate VARIABLE member | Priced TYPE_REFERENCE static shop::cart | ZERO FIELD static
    }
}

macro_rules! sum {
    ($($x:expr),*) => { 0 $(+ $x)* };
}

pub async fn load(path: &dyn AsRef<str>, (a, b): (u8, u8)) -> impl Iterator<Item = u8> {
// AsRef TYPE_REFERENCE static std | str TYPE_REFERENCE static std | u8 TYPE_REFERENCE static std | u8 TYPE_REFERENCE static std | Iterator TYPE_REFERENCE static std | Item TYPE_REFERENCE | u8 TYPE_REFERENCE static std
    let store: Store = open(path.as_ref()).await?;
    // Store TYPE_REFERENCE static shop::store | open METHOD_CALL static shop::store | path VARIABLE argument member | as_ref METHOD_CALL argument member
    let Pair(first, second) = store.pair else { return };
    // Pair TYPE_REFERENCE static shop::cart | store VARIABLE member | pair FIELD member
    let Item { name, price: cost, .. } = second;
    // Item TYPE_REFERENCE static shop::cart | price FIELD member | second VARIABLE member
    if let Some(count) = COUNT && count > 1 {
    // Some TYPE_REFERENCE static std | COUNT VARIABLE static shop::cart | count VARIABLE member
        println!("{}: {}", name, count.pow(2));
        // println METHOD_CALL static std | name VARIABLE argument member | count VARIABLE argument member | pow METHOD_CALL argument member
    } else if cost < total(&store) {
    // cost VARIABLE member | total METHOD_CALL static shop::cart | store VARIABLE argument member
        sum!(a, b);
        // sum METHOD_CALL static shop::cart
    }
    'outer: for (i, item) in store.items().iter().enumerate() {
    // store VARIABLE member | items METHOD_CALL member | iter METHOD_CALL member | enumerate METHOD_CALL member
        while let Some(Entry::Vacant(slot)) = item.slots.next() {
        // Some TYPE_REFERENCE static std | Entry TYPE_REFERENCE static std::collections::hash_map | Vacant TYPE_REFERENCE static std::collections::hash_map | item VARIABLE member | slots FIELD member | next METHOD_CALL member
            if i == 3 { break 'outer; }
            // i VARIABLE member
            slot.insert(vec![i; 2]);
            // slot VARIABLE member | insert METHOD_CALL member | vec METHOD_CALL argument static std | i VARIABLE argument member
        }
    }
    let add = move |x: u8, &y| -> u8 { x + y + a };
    // u8 TYPE_REFERENCE static std | u8 TYPE_REFERENCE static std | x VARIABLE member | y VARIABLE member | a VARIABLE member
    let sizes = [Size::Small, Size::Named("x".into(), Box::new(second))];
    // Size TYPE_REFERENCE static shop::cart | Small FIELD static shop::cart | Size TYPE_REFERENCE static shop::cart | Named METHOD_CALL static shop::cart | into METHOD_CALL argument member | Box TYPE_REFERENCE argument static std | new METHOD_CALL argument static std | second VARIABLE argument member
    let parsed = "1".parse::<u8>().map(u8::from).unwrap_or(std::u8::MAX);
    // parse METHOD_CALL member | u8 TYPE_REFERENCE static std | map METHOD_CALL member | u8 TYPE_REFERENCE argument static std | from FIELD argument static std | unwrap_or METHOD_CALL member | std VARIABLE argument static | u8 VARIABLE argument static | MAX FIELD argument static
    unsafe { COUNT = Some(sizes.len()) };
    // COUNT VARIABLE static shop::cart | Some METHOD_CALL static std | sizes VARIABLE argument member | len METHOD_CALL argument member
    fn helper(n: u8) -> bool { n != first.0 && true }
    // u8 TYPE_REFERENCE static std | bool TYPE_REFERENCE static std | n VARIABLE member | first VARIABLE member
    (0..b).filter(|n| helper(*n)).map(add)
    // b VARIABLE member | filter METHOD_CALL member | helper METHOD_CALL static shop::cart | n VARIABLE argument member | map METHOD_CALL member | add VARIABLE argument member
}
