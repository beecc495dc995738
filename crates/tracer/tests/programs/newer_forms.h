/* The forms: each is a function of its own, with its text as name, in the list between first_case and last_case. rsi is in an area
 * that is far from the code cache, rcx an index. */
#define CASE(text)                                                                                                \
    __asm__(".intel_syntax noprefix\n"                                                                            \
            ".pushsection .text\n1:\t" text "\n\tret\n.popsection\n"                                              \
            ".pushsection .rodata\n2:\t.asciz \"" text "\"\n.popsection\n"                                        \
            ".pushsection .data.cases, \"aw\"\n\t.quad 1b, 2b\n.popsection\n.att_syntax prefix");

__asm__(".pushsection .data.cases, \"aw\"\n.globl first_case\nfirst_case:\n.popsection");

/* `mid` is what is between target and last source; displacements are some in units of the operand, some not. */
#define MEMORY(op, to, mid, mem, unit, imm)                                      \
    CASE(op " " to "0, " mid mem " PTR [rsi+3*" unit "]" imm)                    \
    CASE(op " " to "0, " mid mem " PTR [rsi-128*" unit "+" unit "*64]" imm)      \
    CASE(op " " to "0, " mid mem " PTR [rsi+rcx*2+" unit "+1]" imm)              \
    CASE(op " " to "0, " mid mem " PTR [rip+area+192]" imm)                      \
    CASE(op " " to "0, " mid mem " PTR gs:[rsi+5*" unit "]" imm)                 \
    CASE(op " " to "0, " mid mem " PTR fs:of_thread@tpoff" imm)
#define MASKED(op, to, mid, src, mem, bcast, unit, element, imm)                 \
    CASE(op " " to "0, " mid src "2" imm)                                        \
    CASE(op " " to "17{k1}, " mid src "18" imm)                                  \
    CASE(op " " to "8{k2}{z}, " mid src "31" imm)                                \
    CASE(op " " to "8{k2}{z}, " mid mem " PTR [rip+area+1000]" imm)              \
    CASE(op " " to "17{k1}, " mid mem " PTR [rsi+2*" unit "]" imm)               \
    MEMORY(op, to, mid, mem, unit, imm)
#define BCAST(op, to, mid, element, bytes, bcast, imm)                           \
    CASE(op " " to "0, " mid element " PTR [rsi+5*" bytes "]" bcast imm)         \
    CASE(op " " to "17{k1}, " mid element " PTR [rip+area+66]" bcast imm)        \
    CASE(op " " to "8{k2}{z}, " mid element " PTR [rsi+rcx*8+1]" bcast imm)

/* Of all lengths: 2-byte elements with two sources. */
#define PACKED_3(op, element, bytes, nx, ny, nz, imm)                                             \
    MASKED(op, "xmm", "xmm1, ", "xmm", "XMMWORD", nx, "16", bytes, imm)                           \
    MASKED(op, "ymm", "ymm9, ", "ymm", "YMMWORD", ny, "32", bytes, imm)                           \
    MASKED(op, "zmm", "zmm31, ", "zmm", "ZMMWORD", nz, "64", bytes, imm)                          \
    BCAST(op, "xmm", "xmm1, ", element, bytes, nx, imm)                                           \
    BCAST(op, "ymm", "ymm1, ", element, bytes, ny, imm)                                           \
    BCAST(op, "zmm", "zmm18, ", element, bytes, nz, imm)
/* And one source, of which memory of `x`, `y`, `z` is converted. */
#define PACKED_2(op, tx, ty, tz, sx, sy, sz, x, ux, y, uy, z, uz, element, bytes, nx, ny, nz, imm) \
    MASKED(op, tx, "", sx, x, nx, ux, bytes, imm)                                                 \
    MASKED(op, ty, "", sy, y, ny, uy, bytes, imm)                                                 \
    MASKED(op, tz, "", sz, z, nz, uz, bytes, imm)                                                 \
    BCAST(op, tx, "", element, bytes, nx, imm)                                                    \
    BCAST(op, ty, "", element, bytes, ny, imm)                                                    \
    BCAST(op, tz, "", element, bytes, nz, imm)
#define SAME_2(op, imm)                                                                           \
    PACKED_2(op, "xmm", "ymm", "zmm", "xmm", "ymm", "zmm", "XMMWORD", "16", "YMMWORD", "32", "ZMMWORD", "64", "WORD", "2", \
             "{1to8}", "{1to16}", "{1to32}", imm)
#define HALF(op)                                                                                  \
    PACKED_2(op, "xmm", "ymm", "zmm", "xmm", "xmm", "ymm", "QWORD", "8", "XMMWORD", "16", "YMMWORD", "32", "WORD", "2", \
             "{1to4}", "{1to8}", "{1to16}", "")
#define QUARTER(op)                                                                               \
    PACKED_2(op, "xmm", "ymm", "zmm", "xmm", "xmm", "xmm", "DWORD", "4", "QWORD", "8", "XMMWORD", "16", "WORD", "2", \
             "{1to2}", "{1to4}", "{1to8}", "")
#define FROM_4(op)                                                                                \
    PACKED_2(op, "xmm", "xmm", "ymm", "xmm", "ymm", "zmm", "XMMWORD", "16", "YMMWORD", "32", "ZMMWORD", "64", "DWORD", "4", \
             "{1to4}", "{1to8}", "{1to16}", "")
#define FROM_8(op)                                                                                \
    PACKED_2(op, "xmm", "xmm", "xmm", "xmm", "ymm", "zmm", "XMMWORD", "16", "YMMWORD", "32", "ZMMWORD", "64", "QWORD", "8", \
             "{1to2}", "{1to4}", "{1to8}", "")
#define ONE(op, word, bytes, imm) MASKED(op, "xmm", "xmm1, ", "xmm", word, "", bytes, bytes, imm)
#define PACKED(op) PACKED_3(op, "WORD", "2", "{1to8}", "{1to16}", "{1to32}", "")
#define COMPLEX(op) PACKED_3(op, "DWORD", "4", "{1to4}", "{1to8}", "{1to16}", "")
/* Rounding by the instruction itself: the length is 64 bytes. */
#define ROUNDED(op, to, mid, src)                              \
    CASE(op " " to "0, " mid src "2, {ru-sae}")                \
    CASE(op " " to "17{k1}, " mid src "18, {rn-sae}")          \
    CASE(op " " to "8{k2}{z}, " mid src "31, {rz-sae}")        \
    CASE(op " " to "0, " mid src "9, {rd-sae}")
#define BOTH(op) /* packed, and one */                                      \
    PACKED(op "ph") ONE(op "sh", "WORD", "2", "") ROUNDED(op "ph", "zmm", "zmm1, ", "zmm") ROUNDED(op "sh", "xmm", "xmm1, ", "xmm")
#define FMA_ONE(op) BOTH(op "132") BOTH(op "213") BOTH(op "231")
#define FMA_PACKED(op) PACKED(op "132ph") PACKED(op "213ph") PACKED(op "231ph") ROUNDED(op "231ph", "zmm", "zmm1, ", "zmm")
#define TO_INTEGER(op)                                         \
    CASE(op " eax, xmm2") CASE(op " r9, xmm18") CASE(op " r9d, WORD PTR [rsi+6]") CASE(op " rax, WORD PTR [rip+area+34]") \
    CASE(op " rdx, WORD PTR [rsi+rcx*4+1]")
#define OF_INTEGER(op)                                         \
    CASE(op " xmm0, xmm1, eax") CASE(op " xmm17, xmm18, r9") CASE(op " xmm0, xmm1, DWORD PTR [rsi+12]") \
    CASE(op " xmm0, xmm1, QWORD PTR [rsi+24]") CASE(op " xmm0, xmm9, DWORD PTR [rip+area+36]") CASE(op " xmm0, xmm9, QWORD PTR [rip+area+40]")
#define FLAGS(op)                                              \
    CASE(op " xmm1, xmm2") CASE(op " xmm17, WORD PTR [rsi+6]") CASE(op " xmm1, WORD PTR [rip+area+34]") CASE(op " xmm1, xmm2, {sae}")
#define TO_MASK(op, to, reg, other, mem, unit, imm)                      \
    CASE(op " " to reg other imm) CASE(op " " to "{k1}" reg other imm)   \
    CASE(op " " to "{k2}" reg mem " PTR [rsi+3*" unit "]" imm) CASE(op " " to reg mem " PTR [rip+area+128]" imm)
#define TO_MASK_BCAST(op, reg, n, imm)                                   \
    CASE(op " k3" reg "WORD PTR [rsi+10]" n imm) CASE(op " k5{k1}" reg "WORD PTR [rip+area+66]" n imm)

/* What ordinary programs have of them. */
CASE("vmovw xmm0, eax") CASE("vmovw xmm17, r9d") CASE("vmovw eax, xmm2") CASE("vmovw r9d, xmm18")
CASE("vmovw xmm0, WORD PTR [rsi+6]") CASE("vmovw xmm17, WORD PTR [rip+area+34]") CASE("vmovw xmm8, WORD PTR [rsi+rcx*4+1]")
CASE("vmovw WORD PTR [rsi+6], xmm2") CASE("vmovw WORD PTR [rip+area+34], xmm17") CASE("vmovw WORD PTR [rsi+rcx*4+1], xmm8")
CASE("vmovsh xmm0, WORD PTR [rsi+6]") CASE("vmovsh xmm17{k1}, WORD PTR [rip+area+34]") CASE("vmovsh xmm8{k2}{z}, WORD PTR [rsi+rcx*4+1]")
CASE("vmovsh WORD PTR [rsi+6], xmm2") CASE("vmovsh WORD PTR [rip+area+34]{k1}, xmm17") CASE("vmovsh WORD PTR [rsi+rcx*4+1]{k2}, xmm8")
CASE("vmovsh xmm0, xmm1, xmm2") CASE("vmovsh xmm17{k1}, xmm18, xmm31") CASE("vmovsh xmm8{k2}{z}, xmm1, xmm9")

BOTH("vadd") BOTH("vsub") BOTH("vmul") BOTH("vdiv") BOTH("vscalef")
PACKED("vmaxph") PACKED("vminph") ONE("vmaxsh", "WORD", "2", "") ONE("vminsh", "WORD", "2", "")
CASE("vmaxph zmm0{k1}, zmm1, zmm2, {sae}") CASE("vminsh xmm0{k1}, xmm1, xmm2, {sae}")
SAME_2("vsqrtph", "") ROUNDED("vsqrtph", "zmm", "", "zmm") ONE("vsqrtsh", "WORD", "2", "")
SAME_2("vrcpph", "") SAME_2("vrsqrtph", "") ONE("vrcpsh", "WORD", "2", "") ONE("vrsqrtsh", "WORD", "2", "")
SAME_2("vgetexpph", "") ONE("vgetexpsh", "WORD", "2", "") CASE("vgetexpph zmm0{k1}, zmm2, {sae}")
SAME_2("vgetmantph", ", 4") ONE("vgetmantsh", "WORD", "2", ", 4") CASE("vgetmantph zmm0{k1}, zmm2, {sae}, 4")
SAME_2("vrndscaleph", ", 17") ONE("vrndscalesh", "WORD", "2", ", 17") CASE("vrndscaleph zmm0{k1}, zmm2, {sae}, 17")
SAME_2("vreduceph", ", 33") ONE("vreducesh", "WORD", "2", ", 33") CASE("vreduceph zmm0{k1}, zmm2, {sae}, 33")
FMA_ONE("vfmadd") FMA_ONE("vfmsub") FMA_ONE("vfnmadd") FMA_ONE("vfnmsub") FMA_PACKED("vfmaddsub") FMA_PACKED("vfmsubadd")
COMPLEX("vfmaddcph") COMPLEX("vfcmaddcph") COMPLEX("vfmulcph") COMPLEX("vfcmulcph") ROUNDED("vfmaddcph", "zmm", "zmm1, ", "zmm")
ONE("vfmaddcsh", "DWORD", "4", "") ONE("vfcmaddcsh", "DWORD", "4", "") ONE("vfmulcsh", "DWORD", "4", "") ONE("vfcmulcsh", "DWORD", "4", "")
FLAGS("vcomish") FLAGS("vucomish")

QUARTER("vcvtph2pd") HALF("vcvtph2psx") FROM_8("vcvtpd2ph") FROM_4("vcvtps2phx") ROUNDED("vcvtps2phx", "ymm", "", "zmm")
ONE("vcvtsh2ss", "WORD", "2", "") ONE("vcvtsh2sd", "WORD", "2", "") ONE("vcvtss2sh", "DWORD", "4", "") ONE("vcvtsd2sh", "QWORD", "8", "")
HALF("vcvtph2dq") HALF("vcvttph2dq") HALF("vcvtph2udq") HALF("vcvttph2udq") FROM_4("vcvtdq2ph") FROM_4("vcvtudq2ph")
QUARTER("vcvtph2qq") QUARTER("vcvttph2qq") QUARTER("vcvtph2uqq") QUARTER("vcvttph2uqq") FROM_8("vcvtqq2ph") FROM_8("vcvtuqq2ph")
SAME_2("vcvtph2w", "") SAME_2("vcvttph2w", "") SAME_2("vcvtph2uw", "") SAME_2("vcvttph2uw", "") SAME_2("vcvtw2ph", "") SAME_2("vcvtuw2ph", "")
ROUNDED("vcvtph2w", "zmm", "", "zmm") ROUNDED("vcvtuw2ph", "zmm", "", "zmm")
TO_INTEGER("vcvtsh2si") TO_INTEGER("vcvttsh2si") TO_INTEGER("vcvtsh2usi") TO_INTEGER("vcvttsh2usi")
OF_INTEGER("vcvtsi2sh") OF_INTEGER("vcvtusi2sh")

TO_MASK("vcmpph", "k3", ", xmm1, ", "xmm2", "XMMWORD", "16", ", 1") TO_MASK("vcmpph", "k5", ", ymm1, ", "ymm18", "YMMWORD", "32", ", 13")
TO_MASK("vcmpph", "k3", ", zmm17, ", "zmm2", "ZMMWORD", "64", ", 6") TO_MASK("vcmpsh", "k3", ", xmm1, ", "xmm2", "WORD", "2", ", 2")
TO_MASK_BCAST("vcmpph", ", xmm1, ", "{1to8}", ", 1") TO_MASK_BCAST("vcmpph", ", zmm1, ", "{1to32}", ", 2")
CASE("vcmpph k3{k1}, zmm1, zmm2, {sae}, 5") CASE("vcmpsh k3{k1}, xmm1, xmm2, {sae}, 5")
TO_MASK("vfpclassph", "k3", ", ", "xmm2", "XMMWORD", "16", ", 0x99") TO_MASK("vfpclassph", "k5", ", ", "ymm18", "YMMWORD", "32", ", 0x66")
TO_MASK("vfpclassph", "k3", ", ", "zmm2", "ZMMWORD", "64", ", 0x50") TO_MASK("vfpclasssh", "k3", ", ", "xmm2", "WORD", "2", ", 0x99")
TO_MASK_BCAST("vfpclassph", ", ", "{1to8}", ", 0x99") TO_MASK_BCAST("vfpclassph", ", ", "{1to32}", ", 0x99")

__asm__(".pushsection .data.cases, \"aw\"\n.globl last_case\nlast_case:\n.popsection");
