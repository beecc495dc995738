//! AVX-512: masks, compression, scatters, and accesses that masks keep within bounds.

use super::features::Level;
use super::generate::{ARENA, Gen};
use super::regs::{Value, name};
use super::template::Table;

pub const AVX512: Table = &[
    (
        "avx512f avx512vl avx512bw avx512dq",
        &[
            "vmovdqu64 {m64}, {Z!}",
            "vmovdqu64 {Z}, {m64}",
            "vmovdqa32 {m64a}, {Z!}",
            "vmovaps {Z}, {m64a}",
            "vmovntdq {Z}, {m64a}",
            "vmovdqu32 {Y}, {m32}",
            "vmovdqu8 {m16}, {X!}",
            "vmovdqu16 {X}, {m16}",
            "vpaddd {m64}, {Z}, {Z!}",
            "vaddpd {m64}, {Z}, {Z!}{{k}}",
            "vpaddq {Z}, {Z}, {Z!}{{k}}{zero}",
            "vmovdqu32 {Z}, {m64}{{k}}",
            "vmovdqu8 {Z}, {m64}{{k}}",
            "vmovdqu64 {Y}, {m32}{{k}}",
            "vmovdqu16 {X}, {m16}{{k}}",
            "vmovdqu32 {m64}, {Z!}{{k}}",
            "vmovdqu8 {m64}, {Z!}{{k}}{zero}",
            "vmovapd {m64a}, {Z!}{{k}}",
            "vaddps {m4}{1to16}, {Z}, {Z!}",
            "vpmullq {m8}{1to8}, {Z}, {Z!}{{k}}",
            "vpxord {m4}{1to4}, {X}, {X!}",
            "vpcompressd {Z}, {m64}{{k}}",
            "vpcompressq {Y}, {m32}{{k}}",
            "vcompressps {X}, {m16}{{k}}",
            "vcompresspd {Z}, {Z!}{{k}}",
            "vpexpandd {m64}, {Z!}{{k}}",
            "vexpandpd {m64}, {Z!}{{k}}{zero}",
            "vpexpandq {m32}, {Y!}{{k}}",
            "vpmovqb {Z}, {m8}{{k}}",
            "vpmovdw {Z}, {m32}",
            "vpmovusqd {Y}, {m16}{{k}}",
            "vpmovwb {Z}, {m32}{{k}}",
            "vextracti64x4 $1, {Z}, {m32}",
            "vextractf32x4 $3, {Z}, {m16}{{k}}",
            "vinserti32x4 $2, {m16}, {Z}, {Z!}",
            "vbroadcasti64x4 {m32}, {Z!}",
            "vpbroadcastd {l}, {Z!}",
            "vpternlogd {i}, {m64}, {Z}, {Z!}",
            "vpermw {m64}, {Z}, {Z!}",
            "vpcmpud $1, {m64}, {Z}, {k}",
            "vptestmb {Z}, {Z}, {k}",
            "vpmovd2m {Z}, {k}",
            "vpmovm2b {k}, {Z!}",
            "kmovq {k}, {m8}",
            "kmovq {m8}, {k}",
            "kmovw {k}, {m2}",
            "kmovb {m1}, {k}",
            "kmovd {l}, {k}",
            "kmovq {k}, {q!}",
            "kandq {k}, {k}, {k}",
            "kshiftlw $3, {k}, {k}",
            "kunpckdq {k}, {k}, {k}",
            "knotw {k}, {k}",
            "vcvtpd2ps {m64}, {Y!}",
            "vrndscaleps $1, {m64}, {Z!}",
            "vfmadd231pd {m64}, {Z}, {Z!}{{k}}",
            "vcmppd $5, {m64}, {Z}, {k}",
            "vmovss {X}, {m4}{{k}}",
            "vmovsd {m8}, {X!}{{k}}{zero}",
            "valignq $3, {m64}, {Z}, {Z!}",
            "vpconflictd {Z}, {Z!}",
        ],
    ),
    (
        "avx512_vbmi2",
        &[
            "vpcompressb {Z}, {m64}{{k}}",
            "vpexpandw {m64}, {Z!}{{k}}",
            "vpcompressw {X}, {m16}{{k}}",
        ],
    ),
    ("avx512vbmi", &["vpermb {m64}, {Z}, {Z!}"]),
    ("gfni avx512f", &["vgf2p8mulb {m64}, {Z}, {Z!}"]),
];

impl Gen<'_> {
    /// Accesses whose masks leave out what lies beyond the arena's end, where nothing may be
    /// touched, and scatters.
    pub fn masked(&mut self) -> bool {
        if self.rng.once_in(2) && self.features.has("avx2") {
            return self.masked_lanes();
        }
        if self.features.level != Level::Avx512 {
            return false;
        }
        if self.rng.once_in(2) {
            return self.scatter();
        }
        let lanes = self.rng.range(0, 16);
        let Some((base, at)) = self.middle() else {
            return false;
        };
        let shift = ARENA - 4 * lanes - at;
        let Some(reg) = self.find(|r, v| v == Value::Data && name(r, 8) != base) else {
            return false;
        };
        let mask = ((1u32 << lanes) - 1) & self.rng.next() as u32;
        let (k, z) = (self.rng.range(1, 8), self.rng.range(0, 32));
        self.set(reg, Value::Data);
        self.emit(format!("mov ${}, {}", mask, name(reg, 4)));
        self.emit(format!("kmovw {}, %k{k}", name(reg, 4)));
        let zero = *self.rng.pick(&["", "{z}"]);
        match self.rng.below(4) {
            0 => self.emit(format!("vmovdqu32 %zmm{z}, {shift}({base}){{%k{k}}}")),
            1 => self.emit(format!("vpcompressd %zmm{z}, {shift}({base}){{%k{k}}}")),
            2 => {
                self.emit(format!("vmovdqu32 {shift}({base}), %zmm{z}{{%k{k}}}{zero}"));
                self.written_vectors |= 1 << z;
            }
            _ => {
                self.emit(format!("vpexpandd {shift}({base}), %zmm{z}{{%k{k}}}{zero}"));
                self.written_vectors |= 1 << z;
            }
        }
        true
    }

    /// AVX: lanes whose mask is clear are not touched.
    fn masked_lanes(&mut self) -> bool {
        let lanes = self.rng.range(0, 8);
        let Some((base, at)) = self.middle() else {
            return false;
        };
        let shift = ARENA - 4 * lanes - at;
        let (mask, data) = (self.rng.range(0, 8), self.rng.range(8, 16));
        self.emit(format!(
            "vmovdqu lanes+{}(%rip), %ymm{mask}",
            32 - 4 * lanes
        ));
        if self.rng.once_in(2) {
            self.emit(format!(
                "vpmaskmovd %ymm{data}, %ymm{mask}, {shift}({base})"
            ));
        } else {
            self.emit(format!(
                "vmaskmovps {shift}({base}), %ymm{mask}, %ymm{data}"
            ));
            self.written_vectors |= 1 << data;
        }
        self.written_vectors |= 1 << mask;
        true
    }

    fn scatter(&mut self) -> bool {
        let (op, data, index, quads) = *self.rng.pick(&[
            ("vpscatterdd", "z", "z", false),
            ("vscatterdpd", "z", "y", false),
            ("vpscatterqq", "z", "z", true),
            ("vscatterqps", "y", "z", true),
            ("vpscatterdq", "x", "x", false),
            ("vgatherdps", "z", "z", false),
            ("vpgatherqq", "y", "y", true),
        ]);
        let table = if quads { "indices64" } else { "indices32" };
        let Some((base, at)) = self.middle() else {
            return false;
        };
        let (from, by, k) = (
            self.rng.range(0, 16),
            self.rng.range(16, 32),
            self.rng.range(1, 8),
        );
        let step = 8 * self.rng.range(0, 24);
        self.emit(format!("vmovdqu64 {table}+{step}(%rip), %zmm{by}"));
        // Some random lanes.
        let bits = self.target(2, 1);
        self.emit(format!("kmovw arena+{bits}(%rip), %k{k}"));
        let scale = *self.rng.pick(&[1, 2, 4]);
        let shift = 8192 - at;
        let operand = format!("{shift}({base},%{index}mm{by},{scale})");
        if op.contains("gather") {
            self.emit(format!("{op} {operand}, %{data}mm{from}{{%k{k}}}"));
            self.written_vectors |= 1 << from;
        } else {
            self.emit(format!("{op} %{data}mm{from}, {operand}{{%k{k}}}"));
        }
        self.written_vectors |= 1 << by;
        true
    }
}
