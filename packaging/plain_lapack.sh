#!/bin/sh
# Give SciPy of a built folder the plain LAPACK of the system in place of its second OpenBLAS: 8 MB for 24, and only small
# systems are solved with it. NumPy keeps its own. Where there is no plain LAPACK (Debian: liblapack3), nothing is changed.
#   sh packaging/plain_lapack.sh FOLDER        needs as and ld (binutils)
set -eu
cd "$1/_internal/scipy.libs"
openblas=$(ls libscipy_openblas-*.so)
plain=$(ls /usr/lib/*/lapack/liblapack.so.3 /usr/lib/*/blas/libblas.so.3 2>/dev/null || true)
[ "$(uname -m) $(echo "$plain" | wc -w)" = "x86_64 2" ] || { echo "no plain LAPACK here: SciPy keeps its OpenBLAS" >&2; exit 0; }
for library in $plain; do cp -L "$library" .; done
ln -sf "$(ls libgfortran-*.so.5* | head -1)" libgfortran.so.5
# Its functions by the names that SciPy calls them by.
find ../scipy -name '*.so' -exec nm -D --undefined-only {} + | awk '/ scipy_/ { print $2 }' | sort -u |
  awk 'BEGIN { print ".text" } { plain = substr($1, 7); printf ".globl %s\n.type %s,@function\n%s: jmp %s@PLT\n", $1, $1, $1, plain }' |
  as -o names.o -
rm "$openblas"
ld -shared -z noexecstack -z defs --disable-new-dtags -rpath '$ORIGIN' -soname "$openblas" -o "$openblas" names.o liblapack.so.3 libblas.so.3 --allow-shlib-undefined
rm names.o
