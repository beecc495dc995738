//! SSE and AVX.

use super::generate::{ARENA, Gen};
use super::regs::{RDI, Value, name};
use super::template::Table;

pub const SSE: Table = &[
    (
        "",
        &[
            "movdqu {m16}, {x!}",
            "movdqu {x}, {m16}",
            "movdqa {m16a}, {x!}",
            "movaps {x}, {m16a}",
            "movupd {x}, {m16}",
            "movntdq {x}, {m16a}",
            "movntps {x}, {m16a}",
            "movd {x}, {m4}",
            "movq {x}, {m8}",
            "movq {m8}, {x!}",
            "movd {l}, {x!}",
            "movq {x}, {q!}",
            "movss {m4}, {x!}",
            "movsd {x}, {m8}",
            "movlps {x}, {m8}",
            "movhpd {m8}, {x!}",
            "movhps {x}, {m8}",
            "paddd {m16a}, {x!}",
            "pxor {x}, {x!}",
            "addps {m16a}, {x!}",
            "mulsd {m8}, {x!}",
            "subss {x}, {x!}",
            "divpd {x}, {x!}",
            "sqrtsd {m8}, {x!}",
            "cvtsi2sdq {m8}, {x!}",
            "cvttsd2si {m8}, {q!}",
            "cvtps2pd {m8}, {x!}",
            "cvtsd2ss {x}, {x!}",
            "pshufd {i}, {m16a}, {x!}",
            "shufps {i}, {x}, {x!}",
            "punpcklbw {m16a}, {x!}",
            "packuswb {x}, {x!}",
            "pmovmskb {x}, {l!}",
            "movmskps {x}, {l!}",
            "pinsrw $5, {m2}, {x!}",
            "pextrw $3, {x}, {l!}",
            "psllq $7, {x!}",
            "psrldq $3, {x!}",
            "pcmpeqb {m16a}, {x!}",
            "minps {m16a}, {x!}",
            "cmpltpd {m16a}, {x!}",
            "pmuludq {m16a}, {x!}",
            "psadbw {x}, {x!}",
            "unpckhpd {x}, {x!}",
            "andnps {x}, {x!}",
        ],
    ),
    (
        "ssse3",
        &[
            "pshufb {m16a}, {x!}",
            "palignr $5, {m16a}, {x!}",
            "pabsd {m16a}, {x!}",
            "phaddw {x}, {x!}",
        ],
    ),
    (
        "sse4_1",
        &[
            "pextrb $3, {x}, {m1}",
            "pextrw $2, {x}, {m2}",
            "pextrd $1, {x}, {m4}",
            "pextrq $1, {x}, {m8}",
            "extractps $2, {x}, {m4}",
            "pinsrb $7, {m1}, {x!}",
            "pinsrq $0, {m8}, {x!}",
            "insertps $0x1c, {m4}, {x!}",
            "movntdqa {m16a}, {x!}",
            "pmovzxbw {m8}, {x!}",
            "pmovsxdq {m8}, {x!}",
            "pblendvb {m16a}, {x!}",
            "roundsd $1, {m8}, {x!}",
            "mpsadbw $2, {x}, {x!}",
            "pmulld {m16a}, {x!}",
            "dpps $0x7f, {m16a}, {x!}",
        ],
    ),
    ("sse4_2", &["pcmpgtq {m16a}, {x!}"]),
    (
        "aes",
        &["aesenc {m16a}, {x!}", "aeskeygenassist $3, {x}, {x!}"],
    ),
    ("pclmulqdq", &["pclmulqdq $1, {m16a}, {x!}"]),
    ("sha_ni", &["sha1msg1 {m16a}, {x!}", "sha256msg2 {x}, {x!}"]),
];

pub const AVX: Table = &[
    (
        "avx",
        &[
            "vmovdqu {m32}, {y!}",
            "vmovdqu {y}, {m32}",
            "vmovdqa {m32a}, {y!}",
            "vmovaps {y}, {m32a}",
            "vmovntdq {y}, {m32a}",
            "vmovdqu {m16}, {x!}",
            "vmovups {x}, {m16}",
            "vaddps {m32}, {y}, {y!}",
            "vmulpd {y}, {y}, {y!}",
            "vxorps {x}, {x}, {x!}",
            "vaddsd {m8}, {x}, {x!}",
            "vbroadcastss {m4}, {y!}",
            "vbroadcastf128 {m16}, {y!}",
            "vextractf128 $1, {y}, {m16}",
            "vinsertf128 $1, {m16}, {y}, {y!}",
            "vperm2f128 $0x21, {m32}, {y}, {y!}",
            "vmaskmovps {y}, {y}, {m32}",
            "vmaskmovpd {m32}, {y}, {y!}",
            "vmaskmovps {m16}, {x}, {x!}",
            "vmaskmovpd {x}, {x}, {m16}",
            "vpextrq $1, {x}, {m8}",
            "vpinsrb $3, {m1}, {x}, {x!}",
            "vmovd {x}, {m4}",
            "vmovss {x}, {m4}",
            "vcvtsi2sdl {m4}, {x}, {x!}",
            "vpshufd {i}, {m16}, {x!}",
            "vzeroupper",
            "vcmpps $2, {m32}, {y}, {y!}",
            "vblendvps {y}, {m32}, {y}, {y!}",
            "vlddqu {m32}, {y!}",
            "vpermilps {i}, {m32}, {y!}",
            "vmovmskpd {y}, {l!}",
            "vmovhps {m8}, {x}, {x!}",
            "vmovlpd {x}, {m8}",
        ],
    ),
    (
        "avx2",
        &[
            "vpaddd {m32}, {y}, {y!}",
            "vpmaskmovd {y}, {y}, {m32}",
            "vpmaskmovq {m32}, {y}, {y!}",
            "vpmaskmovd {x}, {x}, {m16}",
            "vpbroadcastb {m1}, {y!}",
            "vpbroadcastq {x}, {y!}",
            "vpermq {i}, {m32}, {y!}",
            "vpermd {m32}, {y}, {y!}",
            "vextracti128 $1, {y}, {m16}",
            "vinserti128 $0, {m16}, {y}, {y!}",
            "vpsllvd {m32}, {y}, {y!}",
            "vpmovzxbw {m16}, {y!}",
            "vpshufb {m32}, {y}, {y!}",
            "vpcmpeqd {m32}, {y}, {y!}",
            "vpalignr $9, {m32}, {y}, {y!}",
            "vpmovmskb {y}, {l!}",
            "vpunpckhqdq {y}, {y}, {y!}",
            "vmovntdqa {m32a}, {y!}",
            "vpblendd {i}, {m32}, {y}, {y!}",
        ],
    ),
    (
        "fma",
        &[
            "vfmadd231pd {m32}, {y}, {y!}",
            "vfnmadd132ss {m4}, {x}, {x!}",
            "vfmsub213ps {y}, {y}, {y!}",
        ],
    ),
    (
        "f16c",
        &["vcvtps2ph $0, {y}, {m16}", "vcvtph2ps {m16}, {y!}"],
    ),
];

impl Gen<'_> {
    /// One instruction of any vector extension; says whether it could be emitted.
    pub fn vector(&mut self) -> bool {
        match self.rng.below(12) {
            0 => self.one_of(&[super::x87::X87]),
            1 => self.one_of(&[super::x87::MMX]),
            2 => self.byte_mask(),
            3 => self.gather(),
            4 | 5 => self.masked(),
            6 => self.one_of(&[super::avx512::AVX512]),
            7 => self.control_words(),
            8 => self.one_of(&[super::newer::NEWER]),
            _ => self.one_of(&[SSE, AVX, super::avx512::AVX512]),
        }
    }

    /// Stores by a mask of bytes, to where rdi points.
    fn byte_mask(&mut self) -> bool {
        let at = self.target(16, 1);
        if !self.load(RDI, Value::Arena(at)) {
            return false;
        }
        let template = *self.rng.pick(&[
            "maskmovdqu {x}, {x}",
            "maskmovq {mm}, {mm}",
            "maskmovdqu {x}, {x}",
        ]);
        self.instruction(template)
    }

    fn gather(&mut self) -> bool {
        if !self.features.has("avx2") {
            return false;
        }
        let (op, lanes, wide) = *self.rng.pick(&[
            ("vpgatherdd", "y", "y"),
            ("vgatherdpd", "y", "x"),
            ("vpgatherqq", "y", "y"),
            ("vpgatherqd", "x", "y"),
            ("vgatherdps", "x", "x"),
            ("vgatherqps", "x", "x"),
        ]);
        let (dest, index, mask) = (
            self.rng.range(0, 5),
            self.rng.range(5, 10),
            self.rng.range(10, 16),
        );
        let quads = op.contains("rq");
        let table = if quads { "indices64" } else { "indices32" };
        // Indices reach 1000 either way, in units of up to 4.
        let Some((base, at)) = self.middle() else {
            return false;
        };
        let (step, lane) = (8 * self.rng.range(0, 24), self.target(32, 1));
        self.emit(format!("vmovdqu {table}+{step}(%rip), %ymm{index}"));
        self.emit(format!("vmovdqu arena+{lane}(%rip), %{lanes}mm{mask}"));
        let scale = *self.rng.pick(&[1, 2, 4]);
        let shift = 8192 - at;
        self.emit(format!(
            "{op} %{lanes}mm{mask}, {shift}({base},%{wide}mm{index},{scale}), %{lanes}mm{dest}"
        ));
        self.written_vectors |= 1 << dest | 1 << index | 1 << mask;
        true
    }

    /// A register with an address in the arena; with it, where that is.
    pub fn middle(&mut self) -> Option<(String, i64)> {
        let at = Value::Arena(self.rng.range(0, ARENA));
        let base = self.holding(|_| true, |v| matches!(v, Value::Arena(_)), at)?;
        match self.regs[base] {
            Value::Arena(at) => Some((name(base, 8), at)),
            _ => None,
        }
    }
}
