// Runs the command, off the page's own thread: a message has the program, its words, the files and the names of those it is to give;
// the answers are { started }, { progress }, { read } and { events } on the way, and { code, out, err, files } or { broken, err } at the end.
// To end at once, the page ends the worker; { interrupt } asks the command for the best so far, where { started } said that it can.
//
// The command is compiled for WASI (preview 1), which names what a program asks of its system. Below is as much of
// it as this command asks for: one folder with the chosen files, which are read where they lie, and with those that are written, in
// memory. There is no network in it.
"use strict";

const [OK, BADF, EXIST, INVAL, IO, NOENT, NOSYS, ROFS] = [0, 8, 20, 28, 29, 44, 52, 69];
const [DEVICE, FOLDER, REGULAR] = [2, 3, 4];
// A device in the folder, to which the command writes the events of a run as they come.
const TRACE = "trace.jsonl";
// Events that the page shows; there are many others.
const SHOWN = /^{"event":"(incumbent|bound|size|certificate)"/;
// Bytes of a file that are held for the next readings.
const WINDOW = 4 << 20;
// Milliseconds between two reports of how much was read, and between two looks at the messages of the page.
const REFRESH = 100;

let told = 0;
function tell(message, always) {
  const now = performance.now();
  if (!always && now - told < REFRESH) return;
  told = now;
  postMessage(message);
}

// A file on the disk of who looks at the page.
class Chosen {
  constructor(name, file) {
    Object.assign(this, { name, file, kind: REGULAR, from: 0, held: new Uint8Array(0), furthest: 0 });
  }
  get size() { return this.file.size; }
  read(at, into) {
    if (at >= this.size) return 0;
    if (at < this.from || at >= this.from + this.held.length) {
      this.held = new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.file.slice(at, at + WINDOW)));
      this.from = at;
      this.furthest = Math.max(this.furthest, at + this.held.length);
    }
    const part = this.held.subarray(at - this.from, at - this.from + into.length);
    into.set(part);
    const bytes = Math.min(this.furthest, at + part.length);
    if (!this.whole) tell({ read: { name: this.name, bytes, of: this.size } }, bytes === this.size);
    this.whole ||= bytes === this.size;
    return part.length;
  }
}

// A file in memory: temporary, or written by the command.
class Held {
  constructor(kind) {
    Object.assign(this, { kind, bytes: new Uint8Array(1 << 10), size: 0 });
  }
  read(at, into) {
    const part = this.bytes.subarray(at, Math.max(at, Math.min(this.size, at + into.length)));
    into.set(part);
    return part.length;
  }
  write(at, from) {
    const end = at + from.length;
    if (end > this.bytes.length) this.grow(Math.max(end, 2 * this.bytes.length));
    this.bytes.set(from, at);
    this.size = Math.max(this.size, end);
    return from.length;
  }
  resize(size) {
    if (size > this.bytes.length) this.grow(size);
    this.bytes.fill(0, size, this.size);
    this.size = size;
  }
  grow(size) {
    const bytes = new Uint8Array(size);
    bytes.set(this.bytes.subarray(0, this.size));
    this.bytes = bytes;
  }
  content() { return this.bytes.slice(0, this.size); }
  text() { return new TextDecoder().decode(this.content()); }
}

// A file of lines, which `take` may take as they come; all others are kept.
class Lines extends Held {
  constructor(kind, take) { super(kind); Object.assign(this, { take, line: "", decoder: new TextDecoder() }); }
  write(_, from) {
    const lines = (this.line + this.decoder.decode(from, { stream: true })).split("\n");
    this.line = lines.pop();
    for (const line of lines) if (!this.take(line)) super.write(this.size, new TextEncoder().encode(line + "\n"));
    return from.length;
  }
}

// Lines of progress go to the page.
const progress = line => line.startsWith("progress: ") && (tell({ progress: line.slice("progress: ".length) }, true), true);

// Events go to the page: a better subset at once, all others together now and then.
let events = [];
function flush() {
  if (events.length) postMessage({ events: events.map(line => JSON.parse(line)) });
  events = [];
}
function event(line) {
  if (SHOWN.test(line)) events.push(line);
  if (line.startsWith('{"event":"incumbent"')) flush();
  return true;
}

class Exit { constructor(code) { this.code = code; } }

// The functions of WASI over a folder of named nodes.
function system(words, variables, folder, streams) {
  let memory = null;
  const view = () => new DataView(memory.buffer);
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const name = (at, length) => new TextDecoder().decode(bytes(at, length)).replace(/^(\.?\/)+/, "").replace(/^\.$/, "");
  const open = new Map(streams.map((node, fd) => [fd, { node, at: 0 }]));
  const root = { kind: FOLDER, size: 0 };
  open.set(3, { node: root, at: 0 });
  const lookUp = (at, length) => { const path = name(at, length); return path === "" ? root : folder.get(path); };
  const encoded = list => list.map(text => new TextEncoder().encode(text + "\0"));
  const sizes = (list, count, total) => {
    view().setUint32(count, list.length, true);
    view().setUint32(total, encoded(list).reduce((sum, text) => sum + text.length, 0), true);
    return OK;
  };
  const put = (list, pointers, at) => {
    for (const text of encoded(list)) {
      view().setUint32(pointers, at, true);
      bytes(at, text.length).set(text);
      [pointers, at] = [pointers + 4, at + text.length];
    }
    return OK;
  };
  const stat = (node, at) => {
    bytes(at, 64).fill(0);
    view().setUint8(at + 16, node.kind);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(node.size), true);
    return OK;
  };
  // Runs `move` on each buffer of a list until one is not filled; a file that cannot be read is an error of the system.
  const each = (list, count, done, move) => {
    let total = 0;
    try {
      for (let k = 0; k < count; k++) {
        const [at, length] = [view().getUint32(list + 8 * k, true), view().getUint32(list + 8 * k + 4, true)];
        const moved = move(bytes(at, length), total);
        total += moved;
        if (moved < length) break;
      }
    } catch (error) {
      console.debug(error);
      return IO;
    }
    view().setUint32(done, total, true);
    return OK;
  };
  const of = (fd, act) => { const file = open.get(fd); return file ? act(file) : BADF; };

  const functions = {
    args_sizes_get: (count, total) => sizes(words, count, total),
    args_get: (pointers, at) => put(words, pointers, at),
    environ_sizes_get: (count, total) => sizes(variables, count, total),
    environ_get: (pointers, at) => put(variables, pointers, at),
    clock_time_get: (id, _, at) => {
      const now = performance.now(), milliseconds = id === 0 ? Date.now() : now;
      view().setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)), true);
      if (now - looked < REFRESH) return OK;
      looked = now;
      flush();
      return waits ? new Promise(resolve => setTimeout(resolve, 0, OK)) : OK;
    },
    random_get: (at, length) => {
      for (let k = 0; k < length; k += 65536) crypto.getRandomValues(bytes(at + k, Math.min(65536, length - k)));
      return OK;
    },
    sched_yield: () => OK,
    proc_exit: code => { throw new Exit(code); },
    fd_prestat_get: (fd, at) => {
      if (fd !== 3) return BADF;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return OK;
    },
    fd_prestat_dir_name: (fd, at) => { bytes(at, 1)[0] = "/".charCodeAt(0); return fd === 3 ? OK : BADF; },
    fd_fdstat_get: (fd, at) => of(fd, ({ node }) => {
      bytes(at, 24).fill(0);
      view().setUint8(at, node.kind);
      view().setBigUint64(at + 8, (1n << 30n) - 1n, true);
      view().setBigUint64(at + 16, (1n << 30n) - 1n, true);
      return OK;
    }),
    fd_fdstat_set_flags: () => OK,
    fd_filestat_get: (fd, at) => of(fd, ({ node }) => stat(node, at)),
    fd_filestat_set_size: (fd, size) => of(fd, ({ node }) => node instanceof Held ? (node.resize(Number(size)), OK) : ROFS),
    fd_sync: () => OK,
    fd_datasync: () => OK,
    fd_close: fd => open.delete(fd) ? OK : BADF,
    fd_read: (fd, list, count, done) => of(fd, file => file.node === root ? BADF : each(list, count, done, into => {
      const got = file.node.read(file.at, into);
      file.at += got;
      return got;
    })),
    fd_pread: (fd, list, count, at, done) => of(fd, file => each(list, count, done, (into, before) => file.node.read(Number(at) + before, into))),
    fd_write: (fd, list, count, done) => of(fd, file => file.node instanceof Held ? each(list, count, done, from => {
      file.at += file.node.write(file.at, from);
      return from.length;
    }) : ROFS),
    fd_pwrite: (fd, list, count, at, done) => of(fd, file => file.node instanceof Held ?
      each(list, count, done, (from, before) => file.node.write(Number(at) + before, from)) : ROFS),
    fd_seek: (fd, by, whence, to) => of(fd, file => {
      const at = [0, file.at, file.node.size][whence] + Number(by);
      if (!(at >= 0)) return INVAL;
      file.at = at;
      view().setBigUint64(to, BigInt(at), true);
      return OK;
    }),
    fd_tell: (fd, to) => of(fd, file => { view().setBigUint64(to, BigInt(file.at), true); return OK; }),
    fd_readdir: (fd, at, length, cookie, used) => {
      if (fd !== 3) return BADF;
      let filled = 0;
      for (const [next, [path, node]] of [...folder].entries()) {
        if (next < Number(cookie) || filled >= length) continue;
        const text = new TextEncoder().encode(path), entry = new Uint8Array(24 + text.length), of = new DataView(entry.buffer);
        of.setBigUint64(0, BigInt(next + 1), true);
        of.setUint32(16, text.length, true);
        of.setUint8(20, node.kind);
        entry.set(text, 24);
        const part = entry.subarray(0, length - filled);
        bytes(at + filled, part.length).set(part);
        filled += part.length;
      }
      view().setUint32(used, filled, true);
      return OK;
    },
    path_filestat_get: (_, __, at, length, to) => { const node = lookUp(at, length); return node ? stat(node, to) : NOENT; },
    path_open: (_, __, at, length, flags, ___, ____, _____, to) => {
      const [create, exclusive, truncate] = [flags & 1, flags & 4, flags & 8];
      let node = lookUp(at, length);
      if (node && create && exclusive) return EXIST;
      if (!node && !create) return NOENT;
      if (!node) folder.set(name(at, length), node = new Held(REGULAR));
      if (truncate && node instanceof Held) node.resize(0);
      let fd = 4;
      while (open.has(fd)) fd++;
      open.set(fd, { node, at: 0 });
      view().setUint32(to, fd, true);
      return OK;
    },
    path_rename: (_, at, length, __, to, count) => {
      const node = lookUp(at, length);
      if (!(node instanceof Held)) return node ? ROFS : NOENT;
      folder.delete(name(at, length));
      folder.set(name(to, count), node);
      return OK;
    },
    // Who has it open keeps it.
    path_unlink_file: (_, at, length) => {
      const node = lookUp(at, length);
      if (!(node instanceof Held)) return node ? ROFS : NOENT;
      folder.delete(name(at, length));
      return OK;
    },
  };
  return { functions, over: of => { memory = of; } };
}

// Whether a command that asks for the time can wait there for a message of the page (JavaScript Promise Integration).
const canWait = typeof WebAssembly.Suspending === "function";
let waits = false, looked = 0, interrupt = null;

async function run({ program, words, files, gives }) {
  const [input, out, err] = [new Held(REGULAR), new Held(REGULAR), new Lines(REGULAR, progress)];
  const folder = new Map(files.map(([name, file]) => [name, new Chosen(name, file)]));
  folder.set(TRACE, new Lines(DEVICE, event));
  try {
    const module = await WebAssembly.compile(program);
    const { functions, over } = system(words, ["FEWEST_PROGRESS=lines"], folder, [input, out, err]);
    const imports = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, functions[name] ?? (() => NOSYS)]));
    waits = canWait && WebAssembly.Module.exports(module).some(({ name }) => name === "interrupt");
    if (waits) imports.clock_time_get = new WebAssembly.Suspending(imports.clock_time_get);
    const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports });
    over(exports.memory);
    const begin = waits ? WebAssembly.promising(exports._start) : exports._start;
    if (waits) interrupt = WebAssembly.promising(exports.interrupt);
    postMessage({ started: { waits } });
    let code = 0;
    try {
      await begin();
    } catch (end) {
      if (!(end instanceof Exit)) throw end;
      code = end.code;
    }
    flush();
    const given = Object.fromEntries(gives.filter(name => folder.get(name) instanceof Held).map(name => [name, folder.get(name).content()]));
    postMessage({ code, out: out.text(), err: err.text(), files: given });
  } catch (error) {
    flush();
    postMessage({ broken: String(error), err: err.text() });
  }
}

onmessage = async ({ data }) => {
  if (!data.interrupt) {
    run(data);
    return;
  }
  // Asking for the time within it would wait for the page once more.
  waits = false;
  if (!(await interrupt?.())) postMessage({ broken: "it was cancelled before it had anything to keep", err: "" });
};
