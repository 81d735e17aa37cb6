// The page that selects: reads the table by `check`, makes a command of the question, runs it, and shows what it writes.
"use strict";
(() => {
  const [read, running, answer, found, cancel, form, line] = ["read", "running", "answer", "found", "cancel", "question", "line"].map(of);
  // What the command writes: the name of the file, its kind, and the words of its button.
  const JSON_FILE = "result.json", REPORT = "report.html", MODEL = "model.json", PROOF = "fewest.proof", PREDICTED = "predicted.csv";
  const FILES = [
    [REPORT, "text/html", "Save the report"],
    [JSON_FILE, "application/json", "Save the result as JSON"],
    [MODEL, "application/json", "Save the model"],
    [PROOF, "application/gzip", "Save the proof"],
    [PREDICTED, "text/csv", "Save the predictions"],
  ];
  const CHECKED = "check.json";
  // Names that a list offers; more would slow the page down.
  const OFFERED = 3000;
  const COMMANDS = { best: "select", study: "study", list: "certify", apply: "predict" };
  const ENDS = {
    optimal: "Proven", completed: "Found", time_limit: "Stopped at the time limit", cancelled: "Stopped as you asked",
    node_limit: "Stopped at a limit", call_limit: "Stopped at a limit", stalled: "Stopped for lack of progress", infeasible: "No subset keeps the rules",
  };
  // The files, and what `check` says of them.
  const chosen = { data: [], labels: null, model: null };
  let table = null;
  const asked = name => new FormData(form).get(name);
  const lineOf = id => words(of(id).value);

  // The table.
  const inputs = () => [...chosen.data, ...(chosen.labels ? [chosen.labels] : []), ...(chosen.model ? [chosen.model] : [])];
  const named = file => names(inputs())[inputs().indexOf(file)];
  const files = () => inputs().map((file, at) => [names(inputs())[at], file]);
  // Options of reading; those of the class are left out where a model says it.
  function reading(withPositive) {
    const target = of("target").value.trim(), positive = of("positive").value;
    const labels = chosen.labels ? ["--labels", named(chosen.labels) + (target ? `:${target}` : "")] : [];
    return [
      ...labels,
      ...(target && !chosen.labels ? ["--target", target] : []),
      ...(withPositive && positive ? ["--positive", positive] : []),
      ...lineOf("reading"),
    ];
  }
  const refresh = () => {
    show(of("table"), chosen.data);
    show(of("labels"), chosen.labels ? [chosen.labels] : []);
    show(of("model"), chosen.model ? [chosen.model] : []);
    preview();
  };
  const preview = () => {
    of("run").disabled = chosen.data.length === 0 || going.worker !== null;
    const command = question();
    line.textContent = command ? typed(command) : "";
  };
  const take = list => {
    // JSON is a model or a result; the table is anything else.
    const [models, tables] = [list.filter(file => /\.json$/i.test(file.name)), list.filter(file => !/\.json$/i.test(file.name))];
    if (models.length) {
      [chosen.model] = models;
      form.querySelector("[name=ask][value=apply]").checked = true;
      settings();
      refresh();
    }
    if (!tables.length) return;
    chosen.data = largestFirst(tables);
    [of("target").value, of("reading").value] = ["", ""];
    check();
  };
  of("table").addEventListener("change", event => take([...event.target.files]));
  dropping(take);
  of("labels").addEventListener("change", event => { chosen.labels = event.target.files[0] ?? chosen.labels; check(); });
  of("model").addEventListener("change", event => { chosen.model = event.target.files[0] ?? chosen.model; refresh(); });
  for (const id of ["target", "reading"]) of(id).addEventListener("change", check);
  of("positive").addEventListener("change", refresh);

  function check() {
    if (!chosen.data.length) return;
    table = null;
    [running.hidden, answer.hidden] = [true, true];
    of("positive").replaceChildren(new Option("as the command decides", ""));
    of("positive").disabled = true;
    read.replaceChildren();
    read.before(of("course"));
    say("reading the table");
    start(
      { words: ["fewest", "check", named(chosen.data[0]), ...reading(false), "--json", CHECKED], files: files(), gives: [CHECKED] },
      { finished: checked, broken: (why, err) => { refresh(); read.append(verdictLine("warning", "Not read", `: ${why}`), ...(err ? [make("pre", err)] : [])); say(why); } },
    );
    refresh();
  }
  function checked({ code, err, files: given }) {
    const json = text(given[CHECKED]);
    table = json ? JSON.parse(json) : null;
    const first = table ? `${table.n_samples} samples, ${table.n_features} features` : "";
    if (!table) {
      read.append(verdictLine("warning", "Not read", `: ${err.trim().replace(/^fewest: /, "")}`));
    } else {
      read.append(verdictLine(code === 0 ? "finding" : "warning", code === 0 ? "Read" : "Read, with faults", `: ${first}`), pairs(summary()));
      for (const { fault, option } of table.faults) read.append(remedy(fault, option));
      if (missing() && code !== 0) {
        read.append(remedy("Some values are missing. They can be filled in, by what the other samples have.", "--missing mean", "--missing median", "--missing indicator"));
      }
      if (table.notes.length) {
        const list = make("ul");
        for (const note of table.notes) list.append(make("li", note));
        read.append(make("h3", "To know"), list);
      }
      offer();
    }
    if (code !== 0) read.append(make("p", "A table without a class can still be asked what a model says of it.", "note"));
    of("reading-more").open ||= code !== 0;
    say(read.firstChild.textContent);
    refresh();
    // For who drives the page by a program.
    Object.assign(read.dataset, { code, err, json });
  }
  const missing = () => table.features.reduce((sum, feature) => sum + feature.missing, 0);
  function summary() {
    const { target } = table, classes = target && Object.values(target.classes).map(name => `${name} (${target.counts[name]})`).join(", ");
    const lacking = missing();
    return [
      ["format", table.format],
      ["values", `${table.sparse ? "sparse" : "dense"}, ${Number((100 * table.density).toPrecision(3))} % are not 0`],
      ["missing", lacking ? `${lacking} values, in ${table.features.filter(feature => feature.missing).length} features` : "none"],
      ["class", target ? `${target.column}: ${classes}` : "none"],
      ...(target?.positive ? [["positive", target.positive]] : []),
      ...(table.constant.length ? [["one value only", `${table.constant.length} features, which are never selected`]] : []),
      ...(table.duplicates.length ? [["repeated", `${table.duplicates.length} features`]] : []),
    ];
  }
  // A fault, and buttons for the options that get past it.
  function remedy(fault, ...options) {
    const block = make("div", undefined, "warning");
    block.append(make("p", fault));
    for (const option of options.filter(option => option && !option.includes("NAME"))) {
      block.append(button(`Read it with ${option}`, () => {
        of("reading").value = `${of("reading").value} ${option}`.trim();
        check();
      }));
    }
    return block;
  }
  // Names for the class, and the classes that may be the positive one.
  function offer() {
    const all = new Set([...(table.target ? [table.target.column] : []), ...table.features.map(feature => feature.name.replace(/=.*$/, ""))]);
    of("columns").replaceChildren(...[...all].slice(0, OFFERED).map(name => new Option(name)));
    if (!table.target?.positive) return;
    of("positive").disabled = false;
    of("positive").append(...Object.values(table.target.classes).map(name => new Option(name)));
  }

  // The question as a command, without what follows only for this page.
  function question() {
    if (!chosen.data.length) return null;
    const [ask, data, more] = [asked("ask"), named(chosen.data[0]), lineOf("options")];
    const value = id => of(id).value.trim();
    // A field, unless its option is typed.
    const field = (option, text) => text && !more.some(word => word === option || word.startsWith(`${option}=`)) ? [option, text] : [];
    const flag = option => more.includes(option) ? [] : [option];
    const out = [...field("--json", JSON_FILE), ...field("--report", REPORT)];
    const limit = field("--time-limit", value("limit"));
    if (ask === "apply") {
      return ["fewest", "predict", chosen.model ? named(chosen.model) : "MODEL.json", data, ...reading(false), ...more, ...field("--out", PREDICTED), ...out];
    }
    const begin = ["fewest", COMMANDS[ask], data, ...reading(true)];
    if (ask === "list") {
      const list = value("list").split(/[,\n]/).map(name => name.trim()).filter(Boolean).join(",");
      return [...begin, ...field("--features", list || "NAMES"), ...field("--cost", value("cost")), ...limit, ...more, ...out, ...field("--proof", PROOF)];
    }
    const written = [...out, ...field("--model", MODEL), ...field("--proof", PROOF)];
    if (ask === "study") return [...begin, ...field("--max-features", value("size") && `1..${value("size")}`), ...limit, ...more, ...written];
    const method = asked("method");
    return [
      ...begin, "--method", method, ...field("--max-features", value("size")),
      ...(method === "kta" ? [] : field("--cost", value("cost"))), ...(method === "rfe" ? flag("--certify") : []), ...limit, ...more, ...written,
    ];
  }
  // Shows the settings of the question.
  function settings() {
    const ask = asked("ask"), method = ask === "best" ? asked("method") : "";
    for (const part of form.querySelectorAll("[data-of]")) {
      part.hidden = !part.dataset.of.split(" ").includes(ask) || part.dataset.not === method;
    }
    of("command-name").textContent = `fewest ${COMMANDS[ask]}`;
    of("run").textContent = { best: "Find the features", study: "Find a panel", list: "Judge my list", apply: "Apply the model" }[ask];
    preview();
  }
  form.addEventListener("input", settings);
  form.addEventListener("submit", event => { event.preventDefault(); run(); });

  // The search: how bound and incumbent moved, the subset so far.
  const course = { best: [], bound: [], gap: null, selected: [], seconds: 0, command: [] };
  function run() {
    if (!chosen.data.length || going.worker) return;
    const ask = asked("ask"), command = question();
    Object.assign(course, { best: [], bound: [], gap: null, selected: [], seconds: 0, command });
    [running.hidden, answer.hidden, of("gap").hidden] = [false, true, true];
    running.querySelector(".blocks").prepend(of("course"));
    cancel.textContent = "Cancel";
    const trace = ask === "best" || ask === "list" ? ["--trace", "trace.jsonl"] : [];
    say("searching");
    start({ words: [...command, ...trace], files: files(), gives: FILES.map(([name]) => name) }, { finished, broken, events });
    refresh();
    cancel.focus();
  }
  const push = (points, point) => {
    points.push(point);
    // Every second point of a long history is enough.
    if (points.length > 1000) points.splice(0, points.length, ...points.filter((_, at) => at % 2 === 0 || at === points.length - 1));
  };
  function events(list) {
    for (const event of list) {
      course.seconds = event.seconds;
      // What comes is another search.
      if (event.event === "size" || event.event === "certificate") Object.assign(course, { bound: [], gap: null });
      if (event.event === "incumbent") {
        push(course.best, [event.seconds, event.objective]);
        course.selected = event.selected_indices.map(at => table?.features[at]?.name ?? `feature ${at}`);
      }
      if (event.event === "bound") push(course.bound, [event.seconds, event.bound]);
      course.gap = event.gap ?? course.gap;
    }
    draw();
  }
  const last = points => points.at(-1)?.[1];
  const number = x => x === undefined ? "none yet" : String(Number(x.toPrecision(6)));
  // A gap as per cent, rounded up to two digits as the command does.
  function share(gap) {
    if (gap === null) return "not known yet";
    const unit = gap > 0 ? 10 ** (Math.floor(Math.log10(100 * gap)) - 1) : 1;
    return `${Number((Math.ceil(100 * gap / unit) * unit).toPrecision(2))} % of what features can gain`;
  }
  function draw() {
    of("gap").hidden = course.best.length + course.bound.length === 0;
    const list = [["best value", number(last(course.best))], ["bound", number(last(course.bound))], ["gap", share(course.gap)], ["best so far", course.selected.join(", ") || "none yet"]];
    of("numbers").replaceChildren(pairs(list));
    const points = [...course.best, ...course.bound], values = points.map(([, value]) => value);
    if (!points.length) return;
    const [left, right, top, bottom] = [70, 510, 12, 190], [low, high, end] = [Math.min(...values), Math.max(...values), Math.max(course.seconds, 1e-3)];
    const x = seconds => left + (right - left) * seconds / end, y = value => high > low ? bottom - (bottom - top) * (value - low) / (high - low) : (top + bottom) / 2;
    const shape = (name, attributes, text) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text !== undefined) made.textContent = text;
      return made;
    };
    // Steps: a value holds until the next.
    const steps = points => points.flatMap(([seconds, value], at) => {
      const until = at + 1 < points.length ? points[at + 1][0] : end;
      return [`${x(seconds).toFixed(1)},${y(value).toFixed(1)}`, `${x(until).toFixed(1)},${y(value).toFixed(1)}`];
    }).join(" ");
    const label = (at, down, text, anchor) => shape("text", { x: at, y: down, "font-size": 12, "text-anchor": anchor, fill: "#010101" }, text);
    of("chart").replaceChildren(
      shape("path", { d: `M${left} ${top}V${bottom}H${right}`, fill: "none", stroke: "#020202" }),
      shape("polyline", { points: steps(course.best), fill: "none", stroke: "#030303", "stroke-width": 2 }),
      shape("polyline", { points: steps(course.bound), fill: "none", stroke: "#040404", "stroke-width": 2 }),
      label(left - 6, top + 8, number(high), "end"), label(left - 6, bottom, high > low ? number(low) : "", "end"),
      label(left, bottom + 18, "0 s", "start"), label(right, bottom + 18, `${end.toPrecision(2)} s`, "end"),
    );
    of("chart").setAttribute("aria-label", `After ${end.toPrecision(2)} seconds: ${list.slice(0, 3).map(pair => pair.join(" ")).join(", ")}`);
  }
  // A screen reader says where the search is, now and then.
  setInterval(() => {
    if (going.worker && course.best.length) say(`best value ${number(last(course.best))}, bound ${number(last(course.bound))}, gap ${share(course.gap)}`);
  }, 10_000);

  cancel.addEventListener("click", () => {
    if (running.hidden) {
      end();
      read.append(verdictLine("warning", "Not read", ": cancelled"));
      of("table").focus();
    } else if (going.waits) {
      // The command ends by itself and writes what it has, as after Ctrl-C.
      going.worker.postMessage({ interrupt: true });
      going.waits = false;
      cancel.textContent = "Stop at once";
      say("finishing with the best so far");
      return;
    } else {
      end();
      stopped();
    }
    refresh();
  });
  function showAnswer(className, first, rest) {
    found.replaceChildren(verdictLine(className, first, rest));
    answer.hidden = false;
    say(found.firstChild.textContent);
    of("answer-h").focus();
  }
  // What is known of a search that was ended before it could write anything.
  function stopped() {
    const best = course.selected.length > 0;
    showAnswer("warning", "Stopped at once", best ? `: ${course.selected.length} features are the best so far` : ": nothing was found yet");
    if (!best) return;
    found.append(pairs([
      ["selected", course.selected.join(", ")], ["objective", number(last(course.best))],
      ["bound", number(last(course.bound))], ["gap", share(course.gap)],
    ]));
    const kept = { selected: course.selected, objective: last(course.best), bound: last(course.bound) ?? null, gap: course.gap, status: "stopped", command: course.command.join(" ") };
    const tools = make("div", undefined, "tools");
    tools.append(button("Save this as JSON", () => save("so-far.json", "application/json", JSON.stringify(kept, null, 2))));
    found.append(tools, make("p", "This is what the search reported last; there is no report, model or proof of it. “Is my list good?” judges these features.", "note"));
    Object.assign(answer.dataset, { code: "", out: "", err: "", json: JSON.stringify(kept) });
  }
  function broken(why, err) {
    refresh();
    showAnswer("warning", "The search broke off", `: ${why}. Ask again, ask a smaller question, or try the command itself`);
    if (err) found.append(make("pre", err));
  }

  function finished({ code, out, err, files: given, milliseconds }) {
    const json = text(given[JSON_FILE]), result = json ? JSON.parse(json) : null;
    refresh();
    draw();
    if (!result) {
      showAnswer("warning", "No answer", `: ${err.trim().replace(/^fewest: /, "") || `exit code ${code}`}`);
    } else {
      const selected = result.panel?.selected ?? result.selected ?? [], judged = result.kind === "certificate";
      const what = result.kind === "prediction" ? out.split("\n")[0] :
        `${judged ? "your list has " : ""}${selected.length} of ${result.n_features} features: ${selected.slice(0, 30).join(", ")}${selected.length > 30 ? ", ..." : ""}`;
      showAnswer(code === 0 ? "finding" : "warning", result.kind === "prediction" ? "Applied" : ENDS[result.status] ?? result.status, `: ${what}`);
      if (result.sentence ?? result.certificate?.sentence) found.append(make("p", result.sentence ?? result.certificate.sentence, "wide"));
      if (result.kind !== "prediction") found.append(pairs(out.split("\n\n")[0].split("\n").map(labelled).filter(Boolean)));
    }
    const tools = make("div", undefined, "tools");
    for (const [name, type, words] of FILES) if (given[name]) tools.append(button(words, () => save(name, type, given[name])));
    if (tools.children.length) found.append(tools);
    if (given[PROOF]) found.append(make("p", "Anyone can check the proof without trusting this page: drop it and the table on verify.html, or run fewest verify.", "note wide"));
    if (given[REPORT]) {
      const frame = make("iframe");
      // Its own scripts run, in a place of their own that reaches neither this page nor a network.
      frame.setAttribute("sandbox", "allow-scripts allow-downloads");
      frame.title = "Report of the run";
      frame.srcdoc = text(given[REPORT]);
      found.append(frame);
    }
    for (const [heading, words] of [["The text of the command", out], ["Notes and warnings", err]]) {
      if (!words.trim() || (!result && words === err)) continue;
      const part = make("details", undefined, "wide");
      part.append(make("summary", heading), make("pre", words.trim()));
      part.open = words === err;
      found.append(part);
    }
    found.append(make("p", `In ${(milliseconds / 1000).toFixed(1)} s, on one thread.`, "note wide"));
    // For who drives the page by a program.
    Object.assign(answer.dataset, { code, out, err, json, seconds: milliseconds / 1000 });
  }

  settings();
})();
