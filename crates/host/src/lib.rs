//! Runs an engine in a process of its own and gives front ends a Session handle to it.
