//! The rules of the shared informer (I1 to I23 of the contract with client-go), each a test that carries its number, on the
//! embedded API server behind a line that fails as told. The clock is paused, but where threads block.

#[cfg(test)]
mod beside_kube;
#[cfg(test)]
mod copies;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod disruption;
#[cfg(test)]
mod factory;
#[cfg(test)]
mod hearing;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod resync;
#[cfg(test)]
mod slow;
#[cfg(test)]
mod states;
#[cfg(test)]
mod told;
#[cfg(test)]
mod world;
