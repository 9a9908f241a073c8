//! The rules of the shared informer (I1 to I23 of the contract with client-go), each a test that carries its number, on the
//! embedded API server behind a line that fails as told. The clock is paused, but where threads block.

mod beside_kube;
mod copies;
mod crowd;
mod disruption;
mod factory;
mod hearing;
mod lifecycle;
mod resync;
mod slow;
mod states;
mod told;
mod world;
