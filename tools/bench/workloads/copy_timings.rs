//! Measures copies of a Logger on the default allocator.

fn main() {
    bench::copy_methods::print_timings();
}
