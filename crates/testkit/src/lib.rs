//! Dev only: fixtures, launching, scripted clients, leak checks.
