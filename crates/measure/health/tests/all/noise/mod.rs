//! What the system takes from a program: detours and fixed work, CPU by CPU.

mod noise_format;
