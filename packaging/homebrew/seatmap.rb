# For Homebrew on Linux: `make dist`, then `brew install --formula packaging/homebrew/seatmap.rb`.
class Seatmap < Formula
  desc "Seating plan for threads: measured core distances, placement, pinning"
  # A release names the address of its archive and the sha256 of SHA256SUMS here.
  url "file://#{File.expand_path("../../target/dist/seatmap-0.1.0.tar.gz", __dir__)}"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "install", "--locked", "--root", prefix, "--path", "crates/front/cli"
    man1.mkpath
    system bin/"seatmap", "man", man1
    generate_completions_from_executable(bin/"seatmap", "completions", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/seatmap --version")
    assert_match "ring:4", shell_output("#{bin}/seatmap place --on graviton3 --pattern ring:4 --kicks 10")
  end
end
