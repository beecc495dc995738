#!/bin/sh
# Runs each workload in $1 briefly: usage errors, determinism, operations, instruction counts of the assembly programs.
set -u
out=$1
here=$(cd "$(dirname "$0")" && pwd)
failures=0

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# The result line without its times.
result_of() {
    "$@" | sed -E 's/ (seconds|ops_per_s)=[0-9.]+//g'
}

same() {
    first=$(result_of "$@") || fail "$*"
    [ -n "$first" ] || fail "$* prints nothing"
    [ "$first" = "$(result_of "$@")" ] || fail "$* differs between two runs"
}

equal() {
    [ "$(result_of $1)" = "$(result_of $2)" ] || fail "'$1' and '$2' give different results"
}

usage_error() {
    "$@" > /dev/null 2> "$out/check.err"
    [ $? -eq 2 ] || fail "$* does not exit with 2"
    grep -q '^usage: ' "$out/check.err" || fail "$* prints no usage"
}

# Those for libpmemobj are there where the library is.
pm=$(cd "$out" && ls -d pm_*)
[ -x "$out/pm_list" ] || fail "the programs in persistent memory are not built"

for program in listing1 listing2 listing3 kv ring stencil stencil_f fft rank tensor buckets lines solver pairs sparse trie modes_array modes_queue modes_hash modes_cowlist $pm; do
    # The Makefile said so, where there is no Fortran compiler.
    [ "$program" = stencil_f ] && [ ! -x "$out/stencil_f" ] && continue
    usage_error "$out/$program" --nonsense=1
    usage_error "$out/$program" nonsense
    "$out/$program" --help | grep -q '^usage: ' || fail "$program --help"
done
usage_error "$out/listing1" --size=100
usage_error "$out/listing1" --threads=many
usage_error "$out/kv" --workload=E
usage_error "$out/kv" --value-size=32
usage_error "$out/kv" --op=demote
usage_error "$out/kv" --theta=nan
usage_error "$out/fft" --points=1000

listing1="$out/listing1 --iters=2000 --elements=1K"
same $listing1
same $listing1 --reread=no
for op in clean demote skip; do
    equal "$listing1" "$listing1 --op=$op"
done
for op in clean demote; do
    equal "$out/listing2 --iters=2000" "$out/listing2 --iters=2000 --op=$op --fence=atomic"
    equal "$out/listing3 --iters=2000" "$out/listing3 --iters=2000 --op=$op"
    equal "$out/ring --messages=2000 --slots=2" "$out/ring --messages=2000 --op=$op"
done
for workload in A B C D; do
    kv="$out/kv --keys=1K --ops=20000 --spare-mb=0 --workload=$workload"
    same $kv
    for op in clean skip; do
        equal "$kv" "$kv --op=$op"
    done
    result_of $kv --threads=4 --distribution=uniform > /dev/null || fail "$kv with four threads"
done
for size in 64 4096; do
    same "$out/kv" --keys=1K --ops=20000 --value-size=$size
done
stencil="$out/stencil --n=16 --steps=3 --warmup=1"
same $stencil
for op in clean skip; do
    equal "$stencil" "$stencil --op=$op"
done
equal "$stencil" "$stencil --op=skip --skip=buffer"
for rows in residual corrections; do
    equal "$stencil" "$stencil --op=clean --cleaned=$rows"
done
result_of $stencil --threads=4 > /dev/null || fail "$stencil with four threads"
if [ -x "$out/stencil_f" ]; then
    usage_error "$out/stencil_f" --n=1
    usage_error "$out/stencil_f" --n=-5
    same "$out/stencil_f" --n=16 --steps=3 --threads=1
fi
same "$out/kv" --keys=1K --ops=20000 --spare-mb=0 --value=copied
equal "$out/kv --keys=1K --ops=20000" "$out/kv --keys=1K --ops=20000 --value=copied"
equal "$out/kv --keys=1K --ops=20000" "$out/kv --keys=1K --ops=20000 --value=copied --op=skip"
usage_error "$out/buckets" --buckets=1000
same "$out/buckets" --keys=64K
same "$out/lines" --n=16
for op in clean skip; do
    for place in both rhs solution; do
        equal "$out/lines --n=16" "$out/lines --n=16 --op=$op --place=$place"
    done
    equal "$out/fft --rows=4 --warmup=2" "$out/fft --rows=4 --warmup=2 --op=$op"
    equal "$out/trie --keys=1K --ops=10000" "$out/trie --keys=1K --ops=10000 --op=$op"
done
same "$out/solver" --n=16 --steps=1
result_of "$out/solver" --n=16 --steps=2 --threads=3 > /dev/null || fail "solver with three threads"
same "$out/pairs" --batches=1
same "$out/sparse" --rows=1K
result_of "$out/sparse" --rows=1K --threads=3 > /dev/null || fail "sparse with three threads"
usage_error "$out/trie" --value-size=100
same "$out/trie" --keys=1K --ops=10000
result_of "$out/trie" --keys=1K --ops=10000 --threads=3 > /dev/null || fail "trie with three threads"
same "$out/fft" --rows=4
same "$out/rank" --keys=10K --max-key=64K --verify=yes
same "$out/tensor" --small-count=1000
equal "$out/tensor --small-count=1000 --warmup=1" "$out/tensor --small-count=1000 --warmup=1 --op=clean"

# What each form left is consistent; what is changed behind its back is not.
pool=$out/check.pool
for form in order fence clflush clflushopt clwb demote nt; do
    for program in "modes_array --passes=1" "modes_queue --elements=500" "modes_hash --elements=200" \
        "modes_cowlist --mutations=40 --length=100" "modes_cowlist --mutations=40 --length=100 --persist=tracked"; do
        name=${program%% *}
        "$out"/$program --form=$form --file="$pool" > "$out/check.said" 2>&1
        code=$?
        # The processor has no such flush.
        [ $code -eq 2 ] && grep -q 'this processor' "$out/check.said" && continue
        [ $code -eq 0 ] || fail "$program --form=$form"
        "$out/$name" --check=yes --file="$pool" | grep -q consistent || fail "what $program --form=$form left"
    done
done
for program in "modes_array 96" "modes_queue 80" "modes_hash 64" "modes_cowlist 65"; do
    name=${program% *}
    "$out/$name" --file="$pool" > /dev/null
    printf '\7' | dd of="$pool" bs=1 seek="${program#* }" conv=notrunc 2> /dev/null
    "$out/$name" --check=yes --file="$pool" | grep -q broken || fail "$name does not see what is broken"
done
usage_error "$out/modes_array" --form=flush
"$out/modes_hash" --check=yes > /dev/null 2>&1
[ $? -eq 2 ] || fail "a check without a file does not exit with 2"
rm -f "$pool" "$out/check.said"

# What a run left is what was counted; with a byte changed behind its back it is not.
for program in $pm; do
    usage_error "$out/$program" run
    usage_error "$out/$program" run "$pool" --form=nt
    for threads in 1 3; do
        rm -f "$pool"
        PMEM_IS_PMEM_FORCE=1 "$out/$program" run "$pool" --ops=2000 --threads=$threads --form=clflush > /dev/null ||
            fail "$program with $threads threads"
        "$out/$program" check "$pool" --more=50 | grep -q consistent || fail "what $program with $threads threads left"
    done
done
for program in pm_list pm_hash pm_swap pm_tatp pm_tpcc pm_bptree pm_level; do
    "$out/$program" run "$pool" --ops=100 --form=clflush > /dev/null
    # The first thread's count: behind the root.
    printf '\7' | dd of="$pool" bs=1 seek=64 conv=notrunc 2> /dev/null
    "$out/$program" check "$pool" | grep -q broken || fail "$program does not see what is broken"
done
# What is no pool of the program's is said to be none.
for program in $pm; do
    "$out/$program" check "$out/none.pool" 2> "$out/check.err" > /dev/null
    [ $? -eq 1 ] && grep -q 'none.pool: No such file' "$out/check.err" || fail "$program check of no file"
    "$out/$program" run "$out/none/pool" 2> "$out/check.err" > /dev/null
    [ $? -eq 1 ] && grep -q 'none/pool: ' "$out/check.err" || fail "$program run in no folder"
    "$out/modes_array" --file="$pool" > /dev/null
    "$out/$program" check "$pool" 2> "$out/check.err" > /dev/null
    [ $? -eq 1 ] && [ -s "$out/check.err" ] || fail "$program check of another program's file"
done
rm -f "$pool"

if [ -x "$out/asm/plain" ]; then
    ${CC:-gcc} -O2 -Wall -Wextra "$here/asm/step_count.c" -o "$out/asm/step_count" || fail "step_count does not build"
    for expect in "$here"/asm/*.expect; do
        program=$out/asm/$(basename "$expect" .expect)
        [ -x "$program" ] || continue
        # Flags may be hidden from a virtual machine whose processor runs the instructions: try it.
        if ! "$program" 2> /dev/null; then
            echo "skipped $(basename "$expect" .expect): it does not run here; it requires$(sed -n 's/^requires/ /p' "$expect")"
            continue
        fi
        [ "$("$out/asm/step_count" "$program")" = "$(grep '^thread ' "$expect")" ] || fail "$program: instruction counts"
        [ "$(awk '/^thread/ { n += $4 } END { print n }' "$expect")" = "$(sed -n 's/^instructions //p' "$expect")" ] ||
            fail "$expect: the threads do not add up"
    done
fi

rm -f "$out/check.err"
[ "$failures" -eq 0 ] && echo "workloads: all checks passed"
[ "$failures" -eq 0 ]
