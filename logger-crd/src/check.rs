//! What the API server would refuse in a definition, or warn of.
