//! Rust names of every common kind, each a function that stays one and takes an equal share.
//! Built with both manglings (`-C symbol-mangling-version`).
//!
//!   names SECONDS
//!
//! Truth: these functions, in equal shares, as the two manglings tell them:
//!
//!   a method in a module   v0: <names::shapes::Circle>::grow      legacy: names::shapes::Circle::grow
//!   a trait's method       both: <names::shapes::Circle as names::shapes::Shape>::area
//!   a generic function     v0: names::generic::<u64>              legacy: names::generic
//!   a closure              v0: names::in_closure::{closure#0}     legacy: names::in_closure::{{closure}}
//!   a name beyond ASCII    both: names::größe

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A unit of work, of which each of the functions holds its own copy.
#[inline(always)]
fn unit(mut state: u64) -> u64 {
    for _ in 0..40_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state)
}

mod shapes {
    pub trait Shape {
        fn area(&self, state: u64) -> u64;
    }

    pub struct Circle(pub u64);

    impl Circle {
        #[inline(never)]
        pub fn grow(&mut self, state: u64) -> u64 {
            self.0 = super::unit(state ^ 1);
            self.0
        }
    }

    impl Shape for Circle {
        #[inline(never)]
        fn area(&self, state: u64) -> u64 {
            super::unit(state ^ 2)
        }
    }
}

#[inline(never)]
fn generic<T: Into<u64>>(state: T) -> u64 {
    unit(state.into() ^ 3)
}

#[inline(never)]
fn in_closure(state: u64) -> u64 {
    // Called through a pointer that the optimiser cannot see through, the closure stays a function.
    let closure: &dyn Fn(u64) -> u64 = &|at| unit(at ^ 4);
    black_box(closure)(state)
}

#[inline(never)]
fn größe(state: u64) -> u64 {
    unit(state ^ 5)
}

#[inline(never)]
fn one_round(state: u64) -> u64 {
    use shapes::Shape;
    let mut circle = shapes::Circle(state);
    let grown = circle.grow(state);
    let area = circle.area(grown);
    größe(in_closure(generic(area)))
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let (mut state, mut rounds) = (88_172_645_463_325_252, 0);
    while Instant::now() < end {
        state = one_round(state | 1);
        rounds += 1;
    }
    println!("truth functions=5 rounds={rounds} state={state}");
}
