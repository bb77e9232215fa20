# The Homebrew formula of a release; packaging/release.sh fills it in.
class Pitot < Formula
  desc "Measures LLM serving endpoints, and says whether a change made a difference"
  homepage "https://github.com/pitot-bench/pitot"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/pitot-bench/pitot/releases/download/v@VERSION@/pitot-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256 darwin-arm64@"
    end
    on_intel do
      url "https://github.com/pitot-bench/pitot/releases/download/v@VERSION@/pitot-@VERSION@-darwin-amd64.tar.gz"
      sha256 "@SHA256 darwin-amd64@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/pitot-bench/pitot/releases/download/v@VERSION@/pitot-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256 linux-arm64@"
    end
    on_intel do
      url "https://github.com/pitot-bench/pitot/releases/download/v@VERSION@/pitot-@VERSION@-linux-amd64.tar.gz"
      sha256 "@SHA256 linux-amd64@"
    end
  end

  def install
    bin.install "pitot"
    man1.install Dir["man/*"]
    bash_completion.install "completion/pitot.bash" => "pitot"
    zsh_completion.install "completion/pitot.zsh" => "_pitot"
    fish_completion.install "completion/pitot.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pitot version")
  end
end
