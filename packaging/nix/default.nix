# For Nix: `nix-build packaging/nix` builds the sources that are checked out.
{ pkgs ? import <nixpkgs> { } }:

pkgs.rustPlatform.buildRustPackage {
  pname = "seatmap";
  version = "0.1.0";
  src = pkgs.lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  cargoBuildFlags = [ "--package" "seatmap" ];
  # The suite takes CPUs, and asks for /sys and rights that a sandbox does not give.
  doCheck = false;

  nativeBuildInputs = [ pkgs.installShellFiles ];
  postInstall = ''
    $out/bin/seatmap man man1
    installManPage man1/*.1
    for shell in bash zsh fish; do
      $out/bin/seatmap completions $shell > seatmap.$shell
      installShellCompletion --cmd seatmap --$shell seatmap.$shell
    done
  '';

  meta = {
    description = "A seating plan for threads";
    license = with pkgs.lib.licenses; [ mit asl20 ];
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "seatmap";
  };
}
