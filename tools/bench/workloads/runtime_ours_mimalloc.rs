//! Our runtime on mimalloc, measured: each line that it prints is one measurement as JSON.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    bench::ours::main()
}
