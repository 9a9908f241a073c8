//! Measures our runtime on mimalloc. Prints one measurement per line as JSON.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    bench::runtime_workload::main()
}
