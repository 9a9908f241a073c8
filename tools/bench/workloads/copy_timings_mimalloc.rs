//! Measures copies of a Logger on mimalloc.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    bench::copy_methods::print_timings();
}
