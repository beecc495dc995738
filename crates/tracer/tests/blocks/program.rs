//! Blocks as the assembly text of a program; `tests/programs/blocks.c` is the rest of it.

use std::fmt::Write;

use super::block::Block;
use super::features::{Features, Level};
use super::generate::{ARENA, LOCAL, STACK};
use super::regs::{RSP, Value, name};
use super::rng::Rng;
use super::tiles::{CONFIGS, TILES, shapes};

/// How the program runs its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Times that each block runs.
    pub rounds: u64,
    /// Microseconds between a timer's signals; 0: no timer.
    pub tick: u64,
}

/// The whole text.
pub fn text(blocks: &[Block], features: &Features, plan: Plan) -> String {
    let mut out = String::from(".text\n");
    for block in blocks {
        let _ = writeln!(out, ".balign 16\n{}:", block.name);
        for line in block.units.iter().flatten() {
            let _ = writeln!(out, "\t{line}");
        }
        let _ = writeln!(out, "\tjmp leave\n{}_end:", block.name);
    }
    enter_and_leave(&mut out, features);
    out.push_str(ALLOCATORS);
    let _ = writeln!(
        out,
        ".section .data.rel.ro,\"aw\"\n.globl blocks, n_blocks, rounds, tick, level, with_tiles\n.balign 8\nblocks:"
    );
    for block in blocks {
        describe(&mut out, block);
    }
    let _ = writeln!(
        out,
        "n_blocks: .quad {}\nrounds: .quad {}\ntick: .quad {}\nlevel: .quad {}\nwith_tiles: .quad {}",
        blocks.len(),
        plan.rounds,
        plan.tick,
        features.level as u8,
        u8::from(features.has_tiles())
    );
    tables(&mut out);
    out
}

fn describe(out: &mut String, block: &Block) {
    let name = &block.name;
    let number = name.trim_start_matches("block_");
    let random: u32 = (0..16)
        .filter(|&r| block.regs[r] == Value::Data)
        .map(|r| 1 << r)
        .sum();
    let _ = writeln!(
        out,
        "\t.quad {number}, {name}, {name}_end, {:#x}, {random:#x}, {:#x}, {:#x}, {}, {}",
        block.flags, block.constant, block.constant_vectors, block.protect[0], block.protect[1]
    );
    for value in block.regs {
        let text = match value {
            Value::Data | Value::Kept => "0".into(),
            Value::Arena(at) => format!("arena+{at}"),
            Value::Dirty(at) => format!("arena+{:#x}", 0x5eed_0001_0000_0000 | at as u64),
            Value::Stack(at) => format!("stack+{at}"),
            Value::Int(n) => n.to_string(),
        };
        let _ = writeln!(out, "\t.quad {text}");
    }
}

/// `enter` gives the processor the state in `state` and jumps to `target`; `leave` saves it.
fn enter_and_leave(out: &mut String, features: &Features) {
    let level = features.level;
    let (wide, count, stride) = match level {
        Level::Sse => ("movdqu", 16, "xmm"),
        Level::Avx => ("vmovdqu", 16, "ymm"),
        Level::Avx512 => ("vmovdqu64", 32, "zmm"),
    };
    out.push_str(
        ".globl enter\nenter:\n\
         \tpush %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n\
         \tmov %rsp, outer_stack(%rip)\n fninit\n ldmxcsr state+144(%rip)\n",
    );
    for v in 0..count {
        let _ = writeln!(out, "\t{wide} state+{}(%rip), %{stride}{v}", 704 + 64 * v);
    }
    if level == Level::Avx512 {
        for k in 0..8 {
            let _ = writeln!(out, "\tkmovq state+{}(%rip), %k{k}", 2752 + 8 * k);
        }
    }
    out.push_str("\tpushq state+128(%rip)\n popfq\n");
    for r in 0..16 {
        let _ = writeln!(out, "\tmov state+{}(%rip), {}", 8 * r, name(r, 8));
    }
    out.push_str("\tjmp *target(%rip)\nleave:\n");
    for r in 0..16 {
        let _ = writeln!(out, "\tmov {}, state+{}(%rip)", name(r, 8), 8 * r);
    }
    let _ = writeln!(
        out,
        "\tmov outer_stack(%rip), {}\n\tpushfq\n popq state+128(%rip)\n cld\n stmxcsr state+144(%rip)",
        name(RSP, 8)
    );
    for v in 0..count {
        let _ = writeln!(out, "\t{wide} %{stride}{v}, state+{}(%rip)", 704 + 64 * v);
    }
    if level == Level::Avx512 {
        for k in 0..8 {
            let _ = writeln!(out, "\tkmovq %k{k}, state+{}(%rip)", 2752 + 8 * k);
        }
    }
    if features.has_tiles() {
        save_tiles(out);
    }
    if level != Level::Sse {
        out.push_str("\tvzeroupper\n");
    }
    out.push_str(
        "\tfxsave64 state+192(%rip)\n fninit\n ldmxcsr clean_mxcsr(%rip)\n\
         \tpush $0x202\n popfq\n\
         \tpop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n",
    );
}

/// The tiles' configuration and, if there is one, what they hold, and none of it behind.
fn save_tiles(out: &mut String) {
    out.push_str(
        "\tsttilecfg tiles(%rip)\n cmpb $0, tiles(%rip)\n je .Lno_tiles\n mov $64, %ecx\n",
    );
    for tile in 0..TILES {
        let _ = writeln!(
            out,
            "\tlea tiles+{}(%rip), %rax\n tilestored %tmm{tile}, (%rax,%rcx)",
            64 + 1024 * tile
        );
    }
    out.push_str("\ttilerelease\n.Lno_tiles:\n");
}

/// Functions with names of allocators: one that allocates, one through it, one that goes on in it.
const ALLOCATORS: &str = "\
    .globl _Znwm, _Znam, _ZnwmSt11align_val_t, _ZdlPv\n\
    .type _Znwm, @function\n .type _Znam, @function\n\
    .type _ZnwmSt11align_val_t, @function\n .type _ZdlPv, @function\n\
    _Znwm: lea arena+64(%rip), %rax\n ret\n\
    _Znam: call _Znwm\n ret\n\
    _ZnwmSt11align_val_t: jmp _Znwm\n\
    _ZdlPv: ret\n";

fn tables(out: &mut String) {
    let mut rng = Rng::new(1, 1);
    out.push_str(".section .rodata\n.balign 64\nclean_mxcsr: .long 0x1f80\nlanes: .quad -1,-1,-1,-1,0,0,0,0\n");
    out.push_str("indices32:\n");
    for _ in 0..80 {
        let _ = writeln!(out, "\t.long {}", rng.range(-1000, 1000));
    }
    out.push_str("indices64:\n");
    for _ in 0..40 {
        let _ = writeln!(out, "\t.quad {}", rng.range(-1000, 1000));
    }
    tile_configs(out);
    // Nobody may touch the pages before and behind the arena.
    let _ = writeln!(
        out,
        ".bss\n.globl arena, stack, state, tiles, target, before, beyond\n.balign 4096\nbefore: .skip 4096\narena: .skip {ARENA}\n\
         beyond: .skip 4096\nstack: .skip {STACK}\n.balign 64\nsaved: .skip 12288\nstate: .skip 3072\ntiles: .skip {}\n\
         target: .skip 8\nouter_stack: .skip 8\n\
         .section skips,\"a\"\n.quad 0, 0\n\
         .section .tbss,\"awT\",@nobits\n.globl local\n.type local, @object\n.size local, {LOCAL}\n.balign 64\nlocal: .skip {LOCAL}\n\
         .section .note.GNU-stack,\"\",@progbits",
        64 + TILES * 1024
    );
}

/// As `ldtilecfg` takes them: the palette, bytes a row and rows of each tile.
fn tile_configs(out: &mut String) {
    out.push_str(".balign 64\ntile_configs:\n");
    for number in 0..CONFIGS {
        let shapes = shapes(number);
        out.push_str("\t.byte 1\n .skip 15\n");
        for (_, bytes) in shapes {
            let _ = writeln!(out, "\t.word {bytes}");
        }
        out.push_str("\t.skip 16\n");
        for (rows, _) in shapes {
            let _ = writeln!(out, "\t.byte {rows}");
        }
        out.push_str("\t.skip 8\n");
    }
}
