//! Counts the allocations of copies of a Logger.

fn main() {
    bench::copy_methods::for_each_method(|case, copy| {
        let counted = allocation_counter::measure(copy);
        println!("{case}\t{}:{}", counted.count_total, counted.bytes_total);
    });
}
