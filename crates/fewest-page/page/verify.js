// The page around the checker: takes the files, runs it on them, and shows what it says in its own words.
"use strict";
(() => {
  const [verdict, found, check, cancel] = ["verdict", "found", "check", "cancel"].map(of);
  const VERDICT = "verdict.json";
  // What was chosen: the proof, the data, and files that the data come with.
  const chosen = { proof: null, data: [] };

  // A proof is packed with gzip and says what it is in its first line.
  const isProof = async file => {
    try {
      const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
      const { value } = await reader.read();
      reader.cancel().catch(() => {});
      return new TextDecoder().decode(value.subarray(0, 200)).includes('"fewest-proof"');
    } catch {
      return false;
    }
  };

  const refresh = () => {
    show(of("proof"), chosen.proof ? [chosen.proof] : []);
    show(of("data"), chosen.data);
    check.disabled = !(chosen.proof && chosen.data.length) || going.worker !== null;
  };
  const take = async files => {
    const proofs = await Promise.all(files.map(isProof));
    const data = largestFirst(files.filter((_, at) => !proofs[at]));
    for (const [at, file] of files.entries()) if (proofs[at]) chosen.proof = file;
    if (data.length) chosen.data = data;
    refresh();
    if (chosen.proof && chosen.data.length) run();
  };
  of("proof").addEventListener("change", event => {
    if (!event.target.files.length) return;
    [chosen.proof] = event.target.files;
    refresh();
    if (chosen.data.length) run();
  });
  of("data").addEventListener("change", event => take([...event.target.files]));
  dropping(take);

  function run() {
    if (!chosen.proof || !chosen.data.length) return;
    const files = [chosen.proof, ...chosen.data], all = names(files), options = words(of("options").value);
    verdict.hidden = true;
    say("checking");
    start(
      {
        words: ["fewest", "--json", `/${VERDICT}`, ...options, "--", all[0], all[1]],
        files: all.map((name, at) => [name, files[at]]),
        gives: [VERDICT],
      },
      { finished: end => finished(end, options), broken },
    );
    refresh();
  }
  check.addEventListener("click", run);
  of("options").addEventListener("keydown", event => { if (event.key === "Enter" && !check.disabled) run(); });
  cancel.addEventListener("click", () => {
    end();
    refresh();
    answer("warning", "NOT VERIFIED", "cancelled; nothing is proven");
    check.focus();
  });

  function answer(className, first, rest) {
    const line = verdictLine(className, first, rest);
    found.replaceChildren(line);
    verdict.hidden = false;
    say(line.textContent);
  }
  function broken(why, err) {
    refresh();
    answer("warning", "NOT VERIFIED", `the check broke off: ${why}; nothing is proven. Try the command fewest verify`);
    if (err) found.append(make("pre", err));
  }

  const listed = lines => pairs(lines.map(line => labelled(line) ?? ["", line]));

  function finished({ code, out, err, files, milliseconds }, options) {
    const json = text(files[VERDICT]);
    refresh();
    if (!out) {
      answer("warning", "NOT VERIFIED", err.trim().replace(/^fewest: /, ""));
    } else {
      const [head, ...lines] = out.trimEnd().split("\n");
      const [, first, rest] = /^((?:NOT )?VERIFIED(?: objective only| nothing)?)\s*(.*)$/.exec(head) ?? [, head, ""];
      answer(code === 0 ? "finding" : "warning", first, rest);
      // The lines of the question stand between those of the result and what is said of the check.
      const at = label => lines.findIndex(line => line.startsWith(`${label} `));
      const [question, after] = [at("model"), at("data") + 1];
      const parts = question < 0 ? [["Differences", lines]] :
        [["What is proven", lines.slice(0, question)], ["The question", lines.slice(question, after)], ["The check", lines.slice(after)]];
      for (const [heading, part] of parts) if (part.length) found.append(make("h3", heading), listed(part));
      if (err.trim()) found.append(make("h3", "Notes"), make("pre", err.trim()));
    }
    const tools = make("div", undefined, "tools");
    if (json) tools.append(button("Save the verdict as JSON", () => save(VERDICT, "application/json", json)));
    if (out) tools.append(button("Save it as text", () => save("verdict.txt", "text/plain", out)));
    const command = ["fewest", "verify", ...[chosen.proof, chosen.data[0]].map(file => file.name), ...options];
    tools.append(make("span", `In ${(milliseconds / 1000).toFixed(1)} s; on a terminal: ${typed(command)}`, "note"));
    found.append(tools);
    // For who drives the page by a program.
    Object.assign(verdict.dataset, { code, out, err, json, seconds: milliseconds / 1000 });
    of("verdict-h").focus();
  }

  refresh();
})();
