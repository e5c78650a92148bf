#!/bin/bash -eu
# Builds every harness with the engine and the sanitizers that the environment names (CC, CXX, CFLAGS, LIB_FUZZING_ENGINE,
# OUT), with its seeds and its dictionary. Also without OSS-Fuzz: make fuzz-oss
cd "$(dirname "$(readlink -f "$0")")"
[ -e Makefile ] || cd ../.. 2> /dev/null
[ -e Makefile ] || cd "$SRC/qedmalloc"
build=${WORK:-build}/oss-fuzz
for source in fuzz/*_fuzz.c; do
    module=$(basename "$source" _fuzz.c)
    [ "$module" != canary ] || continue
    make -s BUILD="$build" CC="${CC:-clang}" FUZZ_LD="${CXX:-clang++}" WARN=-Wno-unknown-pragmas CFLAGS="$CFLAGS" LIB_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" "$build/${module}_fuzz"
    cp "$build/${module}_fuzz" "$OUT/"
    [ ! -e "fuzz/dict/$module.dict" ] || cp "fuzz/dict/$module.dict" "$OUT/${module}_fuzz.dict"
    seeds=$(find "fuzz/corpus/$module" "fuzz/regress/$module" -type f 2> /dev/null || true)
    [ -z "$seeds" ] || python3 -m zipfile -c "$OUT/${module}_fuzz_seed_corpus.zip" $seeds
done
