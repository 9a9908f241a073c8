//! Measures our runtime. Prints one measurement per line as JSON.

fn main() -> anyhow::Result<()> {
    bench::runtime_workload::main()
}
