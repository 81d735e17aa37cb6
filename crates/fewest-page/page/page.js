// The page around the checker: takes the files, runs worker.js on them, and shows what it says in its own words.
"use strict";
(() => {
  const of = id => document.getElementById(id);
  const [verdict, found, check, cancel, course, bar, doing, said] =
    ["verdict", "found", "check", "cancel", "course", "bar", "doing", "said"].map(of);
  // What was chosen: the proof, the data, and files that the data come with.
  const chosen = { proof: null, data: [] };
  let worker = null, begun = 0, clock = 0;

  const make = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const size = bytes => {
    const [unit, by] = bytes >= 1e6 ? ["MB", 1e6] : bytes >= 1e3 ? ["KB", 1e3] : ["bytes", 1];
    return `${Number((bytes / by).toPrecision(3))} ${unit}`;
  };
  const named = file => `${file.name} (${size(file.size)})`;

  // The program, unpacked once.
  const program = (async () => {
    const packed = Uint8Array.from(atob(of("program").textContent.trim()), letter => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  })();
  program.catch(error => broken(`this browser cannot unpack the checker (${error}); use a browser of 2023 or later`));

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

  const show = () => {
    for (const [input, files] of [[of("proof"), chosen.proof ? [chosen.proof] : []], [of("data"), chosen.data]]) {
      const transfer = new DataTransfer();
      for (const file of files) transfer.items.add(file);
      input.files = transfer.files;
      // The field names one file by itself.
      input.nextElementSibling.textContent = files.length > 1 ? files.map(named).join(", ") : files.map(file => size(file.size)).join("");
    }
    check.disabled = !(chosen.proof && chosen.data.length) || worker !== null;
  };
  const take = async files => {
    const proofs = await Promise.all(files.map(isProof));
    // The matrix is the largest, whatever the order in which a browser hands files over.
    const data = files.filter((_, at) => !proofs[at]).sort((a, b) => b.size - a.size);
    for (const [at, file] of files.entries()) if (proofs[at]) chosen.proof = file;
    if (data.length) chosen.data = data;
    show();
    if (chosen.proof && chosen.data.length) run();
  };
  of("proof").addEventListener("change", event => {
    if (!event.target.files.length) return;
    [chosen.proof] = event.target.files;
    show();
    if (chosen.data.length) run();
  });
  of("data").addEventListener("change", event => take([...event.target.files]));
  addEventListener("dragover", event => { event.preventDefault(); document.body.classList.add("dropping"); });
  addEventListener("dragleave", event => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", event => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    take([...event.dataTransfer.files]);
  });

  // Words as a shell takes them: parts in quotes are one.
  const words = text => [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  // A name as the command sees it; of two files of one name the second has another.
  const names = files => files.map((file, at) => files.findIndex(other => other.name === file.name) < at ? `${at}-${file.name}` : file.name);

  const end = () => {
    worker?.terminate();
    worker = null;
    clearInterval(clock);
    [course.hidden, cancel.hidden] = [true, true];
    show();
  };
  const seconds = () => `${((performance.now() - begun) / 1000).toFixed(1)} s`;

  async function run() {
    end();
    if (!chosen.proof || !chosen.data.length) return;
    const files = [chosen.proof, ...chosen.data], all = names(files);
    const url = URL.createObjectURL(new Blob([of("worker").textContent], { type: "text/javascript" }));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    const [mine, typed] = [worker, words(of("options").value)];
    begun = performance.now();
    let step = "starting", checking = "";
    const tick = () => { doing.textContent = `${checking || step}, ${seconds()}`; };
    [verdict.hidden, course.hidden, cancel.hidden, said.textContent] = [true, false, false, "checking"];
    bar.removeAttribute("value");
    clock = setInterval(tick, 200);
    tick();
    show();
    worker.onerror = event => { if (worker === mine) broken(event.message); };
    worker.onmessage = ({ data: told }) => {
      if (worker !== mine) return;
      if (told.read) {
        const { name, bytes, of: total } = told.read;
        step = `${name}: ${size(bytes)} of ${size(total)} read`;
        bar.value = bytes / total;
        if (bytes >= total) bar.removeAttribute("value");
      } else if (told.progress) {
        checking = told.progress;
      } else if (told.broken !== undefined) {
        broken(told.broken, told.err);
      } else if (told.code !== undefined) {
        finished(told, typed);
      }
      tick();
    };
    const bytes = await program;
    if (worker === mine) mine.postMessage({ program: bytes, words: [...typed, "--", all[0], all[1]], files: all.map((name, at) => [name, files[at]]) });
  }
  check.addEventListener("click", run);
  of("options").addEventListener("keydown", event => { if (event.key === "Enter" && !check.disabled) run(); });
  cancel.addEventListener("click", () => {
    end();
    answer("warning", "NOT VERIFIED", "cancelled; nothing is proven");
    check.focus();
  });

  // The first words of the answer, in the colours of reports: a finding or a warning.
  function answer(className, first, rest) {
    const line = make("p", undefined, className);
    line.append(make("strong", first), rest ? (/^[:]/.test(rest) ? rest : ` ${rest}`) : "");
    found.replaceChildren(line);
    verdict.hidden = false;
    said.textContent = line.textContent;
    return line;
  }
  function broken(why, err) {
    end();
    answer("warning", "NOT VERIFIED", `the check broke off: ${why}; nothing is proven. Try the command fewest verify`);
    if (err) found.append(make("pre", err));
  }

  // Lines of the text as pairs: a label, two blanks or more, the rest.
  const pairs = lines => {
    const list = make("dl");
    for (const line of lines) {
      const [, label, value] = /^(\S.*?) {2,}(.*)$/.exec(line) ?? [, "", line];
      const pair = make("div"), of = make("dd");
      of.append(make("bdi", value));
      pair.append(make("dt", label), of);
      list.append(pair);
    }
    return list;
  };
  const save = (file, type, text) => {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  function finished({ code, out, err, json }, typed) {
    const milliseconds = performance.now() - begun, took = seconds();
    end();
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
      for (const [heading, part] of parts) if (part.length) found.append(make("h3", heading), pairs(part));
      if (err.trim()) found.append(make("h3", "Notes"), make("pre", err.trim()));
    }
    const tools = make("div", undefined, "tools");
    const button = (text, act) => {
      const made = make("button", text);
      made.type = "button";
      made.addEventListener("click", act);
      tools.append(made);
    };
    if (json) button("Save the verdict as JSON", () => save("verdict.json", "application/json", json));
    if (out) button("Save it as text", () => save("verdict.txt", "text/plain", out));
    const command = ["fewest", "verify", ...[chosen.proof, chosen.data[0]].map(file => file.name), ...typed];
    tools.append(make("span", `In ${took}; on a terminal: ${command.map(word => /^[\w.,:=/+%@^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(" ")}`, "note"));
    found.append(tools);
    // For who drives the page by a program.
    Object.assign(verdict.dataset, { code, out, err, json, seconds: milliseconds / 1000 });
    of("verdict-h").focus();
  }

  show();
})();
