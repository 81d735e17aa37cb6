# Homebrew's formula: the command, with HiGHS compiled in. `.ci/recipes` writes the checksum, which exists once the release does.
class Fewest < Formula
  desc "Feature selection for support vector machines, with proof"
  homepage "https://github.com/fewest/fewest"
  url "https://github.com/fewest/fewest/releases/download/v0.1.0/fewest-0.1.0-source.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "cmake" => :build
  depends_on "rust" => :build
  uses_from_macos "llvm" => :build # bindgen asks libclang for HiGHS's headers

  def install
    system "cargo", "install", "--features", "highs-build", *std_cargo_args(path: "crates/fewest-cli")
    generate_completions_from_executable(bin/"fewest", "completions")
    (man1/"fewest.1").write Utils.safe_popen_read(bin/"fewest", "man")
  end

  test do
    (testpath/"data.csv").write <<~CSV
      a,b,c,class
      1.0,0.3,5.0,yes
      1.2,0.9,4.0,yes
      1.1,0.1,6.0,yes
      3.0,0.4,5.5,no
      3.3,0.8,4.5,no
      3.1,0.2,5.2,no
    CSV
    system bin/"fewest", "select", "data.csv", "--method", "exact", "--max-features", "1", "--proof", "one.proof", "--json", "one.json"
    assert_match '"selected": ["a"]', (testpath/"one.json").read.gsub(/\[\s+/, "[").gsub(/\s+\]/, "]")
    assert_match "VERIFIED", shell_output("#{bin}/fewest verify one.proof data.csv")
    # HiGHS is inside.
    system bin/"fewest", "select", "data.csv", "--method", "milp1", "--max-features", "1", "--quiet"
  end
end
