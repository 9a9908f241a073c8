//! Times the copies of a Logger, on the allocator that Rust programs have by default.

fn main() {
    bench::copies::print_timings();
}
