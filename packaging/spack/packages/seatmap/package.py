# Copyright (c) 2026 The Seatmap founders
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack.package import *


class Seatmap(CargoPackage):
    """Seatmap measures how far apart the cores of a machine are, finds where the threads of a program should sit,
    seats them there and verifies it, and reserves quiet CPUs."""

    # A source that is checked out: `spack repo add packaging/spack`, then `spack dev-build seatmap@0.1.0` in its folder.
    # A release has an address: its maintainer adds `url`, and the sha256 of SHA256SUMS to the version.
    license("Apache-2.0 OR MIT", checked_by="the maintainers")

    version("0.1.0")

    variant("papers", default=False, description="Also build seatmap-papers, the published experiments")

    depends_on("rust@1.91:", type="build")
    depends_on("c", type="build")

    conflicts("platform=darwin", msg="Seatmap runs on Linux")
    conflicts("platform=windows", msg="Seatmap runs on Linux")

    def install(self, spec, prefix):
        cargo = which("cargo", required=True)
        cargo("install", "--locked", "--path", "crates/front/cli", "--root", prefix)
        shell = Executable("./scripts/install-shell")
        shell(prefix.bin.seatmap, prefix.share, prefix.share.man)
        if spec.satisfies("+papers"):
            cargo("install", "--locked", "--path", "papers/cli", "--root", prefix)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        seatmap = Executable(self.prefix.bin.seatmap)
        seatmap("--version")
        seatmap("place", "--on", "graviton3", "--pattern", "ring:4", "--kicks", "10")
