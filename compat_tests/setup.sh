#!/usr/bin/env bash
# Installs what the tests with real clients need, below build/compat/ where it is ours. Safe to run again: what is there
# is left alone. Packages come by name from the ordinary clients (apt, Maven, pip) as this machine has them set up.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../build/compat
mkdir -p "$out"

say() { printf 'compat setup: %s\n' "$*"; }

install_packages() {
  local missing=() package wanted=(kcat librdkafka-dev libgtest-dev g++ cmake ninja-build pkg-config python3-venv
    openjdk-17-jdk-headless maven)
  # Any Go fetches the one we need, so one that came by another way than apt is as good.
  command -v go >/dev/null || wanted+=(golang-go)
  command -v npm >/dev/null || wanted+=(npm)
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" != 0 ]; then
    say "these packages are missing; run: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    exit 1
  fi
  say "installing ${missing[*]}"
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# Maven has no lock file: jars.sha256 beside each pom.xml is ours, and a jar that is not in it, or differs, is refused.
copy_jars() {  # NAME
  local pom=$here/$1/pom.xml sums=$here/$1/jars.sha256 lib=$out/$1/lib
  if [ -d "$lib" ] && (cd "$lib" && sha256sum --quiet -c "$sums") >/dev/null 2>&1 &&
    [ "$(ls "$lib" | wc -l)" = "$(wc -l <"$sums")" ]; then
    return
  fi
  say "fetching the jars of $1"
  rm -rf "$lib"
  # Even when quiet Maven prints colour codes around nothing.
  mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$lib" 2>&1 | sed -e 's/\x1b\[[0-9;]*m//g' -e '/^$/d'
  (cd "$lib" && sha256sum --quiet -c "$sums")
  [ "$(ls "$lib" | wc -l)" = "$(wc -l <"$sums")" ] || { say "jars beyond those in $sums"; exit 1; }
}

compile_java() {  # NAME CLASS_PATH more sources...
  local classes=$out/$1/classes sources=("$here/$1"/src/*.java "${@:3}")
  if [ -d "$classes" ] && [ -z "$(find "${sources[@]}" -newer "$classes")" ]; then return; fi
  say "compiling the Java sources of $1"
  rm -rf "$classes"
  mkdir -p "$classes"
  javac -Xlint:all,-path -Werror -d "$classes" -cp "$2" "${sources[@]}"
}

# One environment for all Python clients of today; what two of them need stands in one list only.
make_venv() {
  local venv=$out/venv
  local locks=("$here/confluent_python/requirements.lock" "$here/kafka_python/requirements.lock" "$here/aiokafka_python/requirements.lock")
  if cat "${locks[@]}" | cmp -s - "$venv/installed.lock"; then return; fi
  say "making the Python environment"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes "${locks[@]/#/--requirement=}"
  cat "${locks[@]}" >"$venv/installed.lock"
}

# Old releases shadow the new ones at run time: kafka-python by PYTHONPATH, librdkafka (out of a Python wheel) by LD_LIBRARY_PATH.
unpack_old() {  # NAME pip options...
  local name=$1 lock=$here/$1/requirements.lock lib=$out/$1/lib
  shift
  if cmp -s "$lock" "$lib/installed.lock"; then return; fi
  say "fetching $name"
  rm -rf "$lib"
  "$out/venv/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes --only-binary :all: --target "$lib" "$@" -r "$lock"
  cp "$lock" "$lib/installed.lock"
}

unpack_old_librdkafka() {
  [ "$(uname -m)" = x86_64 ] || return 0
  unpack_old old_librdkafka --python-version 3.10
  (cd "$out/old_librdkafka/lib" && ln -sf confluent_kafka.libs/librdkafka-*.so.1 librdkafka.so.1)
  gcc -shared -fPIC -o "$out/old_librdkafka/lib/libmissing.so" "$here/old_librdkafka/missing.c"
}

build_librdkafka_test() {
  say "building the librdkafka test"
  cmake -S "$here" -B "$out/cmake" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo >"$out/cmake.log" 2>&1 ||
    { cat "$out/cmake.log"; exit 1; }
  cmake --build "$out/cmake" --target compat_librdkafka >>"$out/cmake.log" 2>&1 || { cat "$out/cmake.log"; exit 1; }
}

# The Go clients need a newer Go than Debian 12 has. The one on PATH is taken if it is new enough; else it fetches this
# toolchain, as a Go of today would do by itself: it is a module, checked against Go's checksum database.
go_toolchain=go1.26.8
find_go() {
  local wanted have dir
  wanted=go$(sed -n 's/^go //p' "$here/go/go.mod")
  have=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
  go=go
  [ "$(printf '%s\n' "$wanted" "$have" | sort -V | head -1)" = "$wanted" ] && return
  say "fetching $go_toolchain"
  dir=$(cd / && go mod download -json "golang.org/toolchain@v0.0.1-$go_toolchain.linux-$(go env GOARCH)" |
    sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  chmod +x "$dir"/bin/* "$dir"/pkg/tool/*/*  # a module has no executable files
  go=$dir/bin/go
}

build_go_clients() {
  local built=$out/go/built.sum go
  if [ -f "$built" ] && [ -x "$out/go/kgo_own" ] && [ -z "$(find "$here/go" -newer "$built" -type f)" ]; then return; fi
  say "building the Go clients"
  mkdir -p "$out/go"
  find_go
  export GOTOOLCHAIN=local
  (cd "$here/go" && env -u GOROOT "$go" build -buildvcs=false -o "$out/go/" ./...)
  (cd "$here/go" && env -u GOROOT "$go" test -c -o "$out/go/kgo_own" github.com/twmb/franz-go/pkg/kgo)
  cp "$here/go/go.sum" "$built"
}

# The Node clients need a newer Node than Debian has. It is one of their packages, so npm is all that must be there before.
install_node_clients() {
  local node=$out/node
  if cmp -s "$here/node/package-lock.json" "$node/installed.lock"; then return; fi
  say "fetching the Node clients"
  rm -rf "$node"
  mkdir -p "$node"
  cp "$here"/node/package.json "$here"/node/package-lock.json "$node"
  (cd "$node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
  # Older releases of npm leave the link to a command out when two packages offer it.
  (cd "$node" && ln -s node_modules/node-linux-*/bin/node node)
  # Seen through this link, the packages lie in a folder above the sources, where Node looks for them.
  ln -s ../../../compat_tests/node "$node/src"
  cp "$here/node/package-lock.json" "$node/installed.lock"
}

# The real input of one suite is the text of apt's package lists; a fresh machine may not have them.
fetch_package_lists() {
  [ "$(apt-cache dumpavail | head -c 20000000 | wc -c)" = 20000000 ] && return
  say "fetching apt's package lists"
  [ "$(id -u)" = 0 ] || { say "run: sudo apt-get update"; exit 1; }
  apt-get update -q
}

install_packages
fetch_package_lists
for name in oracle java old_java console_tools; do copy_jars "$name"; done
compile_java java "$out/java/lib/*"
compile_java console_tools "$out/console_tools/lib/*:$out/oracle/lib/*"
compile_java old_java "$out/old_java/lib/*" "$here"/java/src/{Support,Records,Member,ProduceTests,GroupTests}.java
make_venv
unpack_old old_kafka_python
unpack_old_librdkafka
build_librdkafka_test
build_go_clients
install_node_clients
say "ready"
