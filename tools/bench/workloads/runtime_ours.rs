//! Our runtime, measured: each line that it prints is one measurement as JSON.

fn main() -> anyhow::Result<()> {
    bench::ours::main()
}
