#!/bin/sh
# Build what people install, into dist/: wheel, self-contained folder (tar), .deb, bill of materials. No argument: all of them.
#   sh packaging/package.sh [wheel] [folder] [deb] [materials]
set -eu
cd "$(dirname "$0")/.."
PY=${PYTHON:-python3}
BUILD=out/package
say() { echo "package: $*" >&2; }
install() { python=$1; shift; "$python" -m pip install -q --disable-pip-version-check "$@"; }
# From a wheel that tools of the locks build: nothing is fetched whose hash is not known.
install_program() {
  rm -rf $BUILD/wheel
  $BUILD/tools/bin/python -m build --no-isolation --wheel --outdir $BUILD/wheel . >/dev/null
  install $BUILD/program/bin/python --no-deps --force-reinstall $BUILD/wheel/*.whl
}
# Sizes in the documentation are those of the last build.
state() { sed -i "/<!-- size of the $1 -->/s/| [^|]*<!--/| $2 <!--/" docs/install.md; say "$1: $2"; }
wants() { case " $what " in *" $1 "*) true ;; *) false ;; esac; }
what=${*:-wheel folder deb materials}
mkdir -p dist $BUILD

# One environment with the program alone: what is in it is what is shipped, and the bill of materials is written before
# PyInstaller, which has to be in it, joins. The other tools live apart.
stamp=$( { cat packaging/program.lock packaging/package.lock packaging/pyinstaller.lock pyproject.toml; "$PY" -V; } | sha256sum | cut -c1-16)
if [ "$(cat $BUILD/.stamp 2>/dev/null || true)" != "$stamp" ]; then
  say "preparing the build environments"
  rm -rf $BUILD/program $BUILD/tools
  "$PY" -m venv $BUILD/program
  "$PY" -m venv $BUILD/tools
  install $BUILD/program/bin/python --require-hashes -r packaging/program.lock
  install $BUILD/tools/bin/python --require-hashes -r packaging/package.lock
  install_program
  $BUILD/tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON \
    -o $BUILD/materials.json $BUILD/program/bin/python
  install $BUILD/program/bin/python --require-hashes -r packaging/pyinstaller.lock
  echo "$stamp" >$BUILD/.stamp
fi
install_program
# Machine code for every processor it may meet that this one can run; what is there from the last build is kept.
for processor in x86-64-v3 x86-64-v2; do
  [ "$(uname -m)" = x86_64 ] || continue
  say "preparing the solver for $processor"
  (cd $BUILD && NUMBA_CPU_NAME=$processor NUMBA_CPU_FEATURES="" ./program/bin/python ../../packaging/prepare_kernels.py --bare)
done
[ "$(uname -m)" = x86_64 ] || (cd $BUILD && ./program/bin/python ../../packaging/prepare_kernels.py --bare)
machine_code=$($BUILD/program/bin/python -P -c 'from pathlib import Path; import phexplore; print(Path(phexplore.__file__).parent / "_machine_code")')
version=$($BUILD/program/bin/python -c 'from importlib.metadata import version; print(version("phexplore"))')

if wants wheel; then
  PHEXPLORE_MACHINE_CODE=$machine_code $BUILD/tools/bin/python -m build --no-isolation --wheel --outdir dist . >/dev/null
  wheel=$(ls -t dist/phexplore-"$version"-*.whl | head -1)
  state wheel "$(du -m "$wheel" | cut -f1) MB, and what it needs from the package index"
  say "$wheel"
fi
if wants materials; then
  cp $BUILD/materials.json dist/phexplore-$version.cdx.json
  say "dist/phexplore-$version.cdx.json"
fi
if wants folder || wants deb; then
  # Without the current folder on the path: the installed program is bundled, with its resources, not the checkout.
  PYTHONSAFEPATH=1 $BUILD/program/bin/python -m PyInstaller --noconfirm --log-level ERROR \
    --distpath $BUILD/folder --workpath $BUILD/work packaging/phexplore.spec
  cp LICENSE resources/licences.csv $BUILD/folder/phexplore/
  # A hundred megabytes of names that nothing looks up. Libraries in *.libs are left as they came: stripping breaks repaired wheels.
  find $BUILD/folder/phexplore -type f \( -name '*.so' -o -name '*.so.[0-9]*' \) ! -path '*.libs/*' -exec strip --strip-unneeded {} +
  # pyarrow is linked to these and calls nothing of them: empty libraries of the same names are enough.
  find $BUILD/folder/phexplore -type f -name 'libarrow_*.so.*' | grep -E '_(substrait|acero|dataset)[.]so' | while read -r library; do
    ld -r -b binary -o $BUILD/nothing.o /dev/null && ld -shared -soname "$(basename "$library")" -o "$library" $BUILD/nothing.o
  done
  # Libraries of Fortran that NumPy and SciPy bring, SciPy twice.
  for name in libgfortran libquadmath; do
    same=$(cd $BUILD/folder/phexplore/_internal/numpy.libs && ls $name-*)
    for library in $BUILD/folder/phexplore/_internal/scipy.libs/$name-*; do ln -sf "../numpy.libs/$same" "$library"; done
  done
  sh packaging/plain_lapack.sh $BUILD/folder/phexplore
  $BUILD/tools/bin/python packaging/trim_icu.py $BUILD/folder/phexplore >&2
fi
if wants folder; then
  name=phexplore-$version-linux-$(uname -m)
  XZ_OPT=${XZ_OPT:--T0} tar -C $BUILD/folder --owner=0 --group=0 -cJf "dist/$name.tar.xz" phexplore
  state folder "$(du -m "dist/$name.tar.xz" | cut -f1) MB packed, $(du -sm $BUILD/folder/phexplore | cut -f1) MB unpacked"
  say "dist/$name.tar.xz"
fi
if wants deb; then
  root=$BUILD/deb
  rm -rf $root
  mkdir -p $root/DEBIAN $root/usr/lib $root/usr/bin $root/usr/share/applications $root/usr/share/mime/packages \
    $root/usr/share/icons/hicolor/scalable/apps $root/usr/share/doc/phexplore
  cp -r $BUILD/folder/phexplore $root/usr/lib/phexplore
  ln -s ../lib/phexplore/phexplore $root/usr/bin/phexplore
  cp packaging/debian/phexplore.desktop $root/usr/share/applications/
  cp packaging/debian/phexplore.xml $root/usr/share/mime/packages/
  cp resources/icons/phexplore.svg $root/usr/share/icons/hicolor/scalable/apps/
  cp LICENSE $root/usr/share/doc/phexplore/copyright
  cp resources/licences.csv $root/usr/share/doc/phexplore/
  architecture=$(dpkg --print-architecture)
  sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$(du -sk $root/usr | cut -f1)/" \
    packaging/debian/control.in >$root/DEBIAN/control
  chmod -R u=rwX,go=rX $root
  dpkg-deb --root-owner-group -Zxz --build $root "dist/phexplore_${version}_$architecture.deb" >/dev/null
  state deb "$(du -m "dist/phexplore_${version}_$architecture.deb" | cut -f1) MB"
  say "dist/phexplore_${version}_$architecture.deb"
fi
