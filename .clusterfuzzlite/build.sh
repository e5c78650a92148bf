#!/bin/bash -eu
exec "$SRC/qedmalloc/fuzz/oss-fuzz/build.sh"
