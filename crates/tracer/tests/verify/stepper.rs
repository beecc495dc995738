//! A process that is executed instruction by instruction.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;

use super::state::{FLAGS, State, hash};

/// Of the processor's state as `xsave` lays it out: xmm, and the offset of the upper halves of ymm.
const XMM_AT: usize = 160;
const HEADER_AT: usize = 512;

/// The set of registers that is that state (`NT_X86_XSTATE` of `elf.h`).
const XSTATE: i32 = 0x202;

pub struct Stepper {
    child: Child,
    memory: File,
    data: Range<u64>,
    ymm_at: usize,
}

impl Stepper {
    /// Starts `program`, whose memory that it writes to is `data`, and stops before its first instruction.
    pub fn start(program: &Path, data: Range<u64>) -> Self {
        let mut command = Command::new(program);
        command.stdout(Stdio::null());
        // SAFETY: between fork and exec a bare system call is made, on the child itself.
        unsafe {
            command.pre_exec(|| {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        let memory = File::open(format!("/proc/{}/mem", child.id())).unwrap();
        let upper = std::arch::x86_64::__cpuid_count(13, 2);
        let stepper = Self {
            child,
            memory,
            data,
            ymm_at: upper.ebx as usize,
        };
        stepper.wait();
        stepper
    }

    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    fn wait(&self) {
        let mut status = 0;
        // SAFETY: waits for a child of ours.
        let done = unsafe { libc::waitpid(self.pid(), &raw mut status, 0) };
        assert_eq!(done, self.pid());
        assert!(
            libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP,
            "natively it ended with {status:#x}"
        );
    }

    fn registers(&self) -> libc::user_regs_struct {
        // SAFETY: all of the structure is numbers, and the child is stopped.
        unsafe {
            let mut regs: libc::user_regs_struct = std::mem::zeroed();
            let done = libc::ptrace(libc::PTRACE_GETREGS, self.pid(), 0, &raw mut regs);
            assert_eq!(done, 0);
            regs
        }
    }

    pub fn pc(&self) -> u64 {
        self.registers().rip
    }

    /// Executes an instruction, as a whole where it repeats itself.
    pub fn step(&self) {
        let from = self.pc();
        loop {
            // SAFETY: the child is stopped.
            let done =
                unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, self.pid(), null_mut::<u8>(), 0) };
            assert_eq!(done, 0);
            self.wait();
            if self.pc() != from || !self.repeats(from) {
                return;
            }
        }
    }

    /// Is it a string instruction with a prefix that repeats it?
    fn repeats(&self, pc: u64) -> bool {
        let mut code = [0; 4];
        self.memory.read_exact_at(&mut code, pc).unwrap();
        let prefixes = [0xf2, 0xf3, 0x66, 0x48];
        let op = code.iter().find(|b| !prefixes.contains(b));
        let string = |b: &u8| matches!(b, 0xa4..=0xa7 | 0xaa..=0xaf);
        (code.contains(&0xf2) || code.contains(&0xf3)) && op.is_some_and(string)
    }

    fn vectors(&self) -> u64 {
        let mut area = vec![0u8; 16384];
        let mut io = libc::iovec {
            iov_base: area.as_mut_ptr().cast(),
            iov_len: area.len(),
        };
        // SAFETY: the kernel writes no more than the buffer has.
        let done = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, self.pid(), XSTATE, &raw mut io) };
        assert_eq!(done, 0);
        // What is as in a fresh process need not have been written.
        let there = area[HEADER_AT];
        let mut h = 0;
        for i in 0..16 {
            let mut register = [0; 32];
            if there & 2 != 0 {
                register[..16].copy_from_slice(&area[XMM_AT + 16 * i..][..16]);
            }
            if there & 4 != 0 {
                register[16..].copy_from_slice(&area[self.ymm_at + 16 * i..][..16]);
            }
            h = hash(h, &register);
        }
        h
    }

    pub fn state(&self) -> State {
        let r = self.registers();
        let mut data = vec![0; (self.data.end - self.data.start) as usize];
        self.memory
            .read_exact_at(&mut data, self.data.start)
            .unwrap();
        State {
            pc: r.rip,
            gpr: [
                r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11,
                r.r12, r.r13, r.r14, r.r15,
            ],
            flags: r.eflags & FLAGS,
            vectors: self.vectors(),
            memory: hash(0, &data),
        }
        .without_steps()
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
