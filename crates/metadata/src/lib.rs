//! Reads PE, ECMA-335 and Portable PDB bytes as typed, lazy, zero-copy views; no processes, no COM.
