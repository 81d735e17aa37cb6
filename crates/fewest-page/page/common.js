// What the pages do alike: take files, run worker.js on them, and say how far it is.
"use strict";
const of = id => document.getElementById(id);
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
// Puts a text where a screen reader says it.
const say = text => { of("said").textContent = text; };

// The program, unpacked once.
const program = (async () => {
  const packed = Uint8Array.from(atob(of("program").textContent.trim()), letter => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
})();
program.catch(() => {});

// Shows files in the field of their choice.
function show(input, files) {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  input.files = transfer.files;
  // The field names one file by itself.
  const named = file => `${file.name} (${size(file.size)})`;
  input.nextElementSibling.textContent = files.length > 1 ? files.map(named).join(", ") : files.map(file => size(file.size)).join("");
}
// The matrix is the largest file, whatever the order in which a browser hands files over.
const largestFirst = files => [...files].sort((a, b) => b.size - a.size);
// Files may be dropped anywhere on the page.
function dropping(take) {
  addEventListener("dragover", event => { event.preventDefault(); document.body.classList.add("dropping"); });
  addEventListener("dragleave", event => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", event => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    take([...event.dataTransfer.files]);
  });
}

// Words as a shell takes them: parts in quotes are one.
const words = text => [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
// A command as one types it into a shell.
const typed = command => command.map(word => /^[\w.,:=/+%@^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(" ");
// A name as the command sees it; of two files of one name the second has another.
const names = files => files.map((file, at) => files.findIndex(other => other.name === file.name) < at ? `${at}-${file.name}` : file.name);

function save(file, type, content) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function button(text, act) {
  const made = make("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}
// The first words of an answer, in the colours of reports: a finding or a warning.
function verdictLine(className, first, rest) {
  const line = make("p", undefined, className);
  line.append(make("strong", first), rest ? (/^[:]/.test(rest) ? rest : ` ${rest}`) : "");
  return line;
}
// A line of the command's text: a label, two blanks or more, the rest; undefined where it is another.
const labelled = line => /^(\S.*?) {2,}(.*)$/.exec(line)?.slice(1);
// Pairs of a label and a text as a list.
function pairs(list) {
  const all = make("dl");
  for (const [label, value] of list) {
    const pair = make("div"), text = make("dd");
    text.append(make("bdi", value));
    pair.append(make("dt", label), text);
    all.append(pair);
  }
  return all;
}

// The run that is going on, if any, and what it shows meanwhile.
const going = { worker: null, begun: 0, clock: 0, waits: false };
const seconds = () => `${((performance.now() - going.begun) / 1000).toFixed(1)} s`;
function end() {
  going.worker?.terminate();
  going.worker = null;
  clearInterval(going.clock);
  [of("course").hidden, of("cancel").hidden] = [true, true];
}
// Runs the program with these words on these files (names and files), and hands on what it says: `finished` has the end with its
// milliseconds, `broken` why there is none, `events` what happens on the way.
async function start({ words, files, gives }, { finished, broken, events }) {
  end();
  const url = URL.createObjectURL(new Blob([of("worker").textContent], { type: "text/javascript" }));
  const mine = new Worker(url), [bar, doing] = [of("bar"), of("doing")];
  URL.revokeObjectURL(url);
  let step = "starting", checking = "";
  const tick = () => { doing.textContent = `${checking || step}, ${seconds()}`; };
  Object.assign(going, { worker: mine, begun: performance.now(), clock: setInterval(tick, 200), waits: false });
  [of("course").hidden, of("cancel").hidden] = [false, false];
  bar.removeAttribute("value");
  tick();
  const broke = (why, err) => { end(); broken(why, err); };
  mine.onerror = event => { if (going.worker === mine) broke(event.message); };
  mine.onmessage = ({ data: message }) => {
    if (going.worker !== mine) return;
    if (message.started) {
      going.waits = message.started.waits;
    } else if (message.read) {
      const { name, bytes, of: total } = message.read;
      step = bytes < total ? `${name}: ${size(bytes)} of ${size(total)} read` : `${name} is read`;
      bar.value = bytes / total;
      if (bytes >= total) bar.removeAttribute("value");
    } else if (message.progress) {
      checking = message.progress;
    } else if (message.events) {
      events?.(message.events);
    } else if (message.broken !== undefined) {
      broke(message.broken, message.err);
    } else if (message.code !== undefined) {
      const milliseconds = performance.now() - going.begun;
      end();
      finished({ ...message, milliseconds });
    }
    if (going.worker === mine) tick();
  };
  try {
    const bytes = await program;
    if (going.worker === mine) mine.postMessage({ program: bytes, words, files, gives });
  } catch (error) {
    if (going.worker === mine) broke(`this browser cannot unpack the program (${error}); use a browser of 2023 or later`);
  }
}
const text = bytes => bytes ? new TextDecoder().decode(bytes) : "";
