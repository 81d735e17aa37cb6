// What the page does beyond showing: theme, sorting, and long tables. Without script everything is there, unsorted.
"use strict";
(() => {
  const ROWS = 25; // of a table, at once
  const said = document.getElementById("said");
  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
  };

  const dark = () => {
    const set = document.documentElement.dataset.theme;
    return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const theme = button("", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    named();
  });
  const named = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
  theme.id = "theme";
  named();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", named);
  document.querySelector("header").append(theme);

  // The list of contents is beside the page where there is room, else folded.
  const contents = document.querySelector("nav details"), roomy = matchMedia("(min-width: 74rem)");
  const fold = () => { contents.open = roomy.matches; };
  fold();
  roomy.addEventListener("change", fold);
  // What has the width to itself shows its numbers.
  for (const details of document.querySelectorAll("figure.wide > details")) {
    details.open = matchMedia("(min-width: 60rem)").matches && details.querySelectorAll("tbody tr").length <= 12;
  }

  // Paper cannot be unfolded: tables behind charts are printed, and folded again afterwards.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    for (const folded of unfolded) folded.open = true;
  });
  addEventListener("afterprint", () => { for (const folded of unfolded) folded.open = false; });

  // A chart or a table as a file of its own.
  const save = (file, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const saving = (place, ...acts) => {
    const line = document.createElement("div");
    line.className = "saves";
    for (const [text, act] of acts) {
      const made = button(text, act);
      made.className = "save";
      line.append(made);
    }
    place.after(line);
  };
  const ROLES = { "#010101": "--ink", "#020202": "--line", "#030303": "--first", "#040404": "--second", "#050505": "--rest" };
  // A chart is one column of a journal wide, 85 mm, or two, 170 mm; 300 dots per inch.
  const picture = svg => {
    const colours = getComputedStyle(document.documentElement), copy = svg.cloneNode(true);
    const [width, height] = ["width", "height"].map(side => svg.getAttribute(side) * 85 / 400);
    copy.setAttribute("width", `${width}mm`);
    copy.setAttribute("height", `${height}mm`);
    copy.setAttribute("font-family", "Helvetica, Arial, sans-serif");
    for (const line of copy.querySelectorAll("polyline[stroke='#040404']:not([stroke-width='3'])")) line.setAttribute("stroke-dasharray", "6 4");
    const text = new XMLSerializer().serializeToString(copy);
    return Object.entries(ROLES).reduce((t, [role, name]) => t.replaceAll(role, colours.getPropertyValue(name).trim()), text);
  };
  const bitmap = (svg, file) => {
    const image = new Image(), canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = ["width", "height"].map(side => Math.round(svg.getAttribute(side) * 85 / 400 / 25.4 * 300));
    image.onload = () => {
      const to = canvas.getContext("2d");
      to.fillStyle = getComputedStyle(document.body).backgroundColor;
      to.fillRect(0, 0, canvas.width, canvas.height);
      to.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(blob => save(file, "image/png", blob));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture(svg))}`;
  };
  const cellText = cell => (cell.title || cell.textContent).trim();
  // A spreadsheet reads no name as a formula.
  const plain = text => /^[=+\-@\t\r]/.test(text) && isNaN(text.replace(/\s?%$/, "")) ? `'${text}` : text;
  const csv = table => [...table.rows].map(row => [...row.cells].map(cell => {
    const text = plain(cellText(cell));
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }).join(",")).join("\n") + "\n";

  // Where each mark of a chart is a row of its table, the row is told by mouse and by arrow keys.
  for (const figure of document.querySelectorAll("figure")) {
    const plot = figure.querySelector(".plot"), svg = plot.querySelector("svg"), table = figure.querySelector("table.data");
    saving(plot, ["Save as SVG", () => save(`${figure.id}.svg`, "image/svg+xml", picture(svg))], ["Save as PNG", () => bitmap(svg, `${figure.id}.png`)]);
    const marks = [...svg.querySelectorAll(':is(rect, circle):is([fill="#030303"], [fill="#040404"])')];
    const names = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
    const rows = [...table.tBodies[0].rows].map(row => [...row.cells].map((cell, at) => `${names[at]}: ${cellText(cell)}`).join(", "));
    if (marks.length !== rows.length) continue;
    const value = document.createElement("p");
    value.className = "value";
    plot.after(value);
    let at = -1;
    const tell = next => {
      if (at >= 0) marks[at].classList.remove("told");
      at = next;
      marks[at].classList.add("told");
      value.textContent = rows[at];
    };
    marks.forEach((mark, place) => mark.addEventListener("pointerenter", () => tell(place)));
    plot.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      tell(Math.min(marks.length - 1, Math.max(0, at + step)));
      said.textContent = value.textContent;
    });
  }

  // Cells without a number come last, whichever way is sorted.
  const value = (row, at, numeric) => {
    const text = row.cells[at].textContent.trim();
    return numeric ? parseFloat(text) : text.toLowerCase();
  };
  const compare = (a, b, numeric) => numeric ? a - b : (a < b ? -1 : a > b ? 1 : 0);

  for (const [number, table] of document.querySelectorAll("table.data").entries()) {
    const from = table.closest("figure, section").id;
    saving(table.parentElement, ["Save as CSV", () => save(`${from}-${number + 1}.csv`, "text/csv", csv(table))]);
    const body = table.tBodies[0], headings = [...table.tHead.rows[0].cells];
    const original = [...body.rows];
    headings.forEach((heading, at) => {
      if (heading.classList.contains("n")) original.forEach(row => row.cells[at].classList.add("n"));
    });
    const first = Number(table.dataset.first) || ROWS;
    let order = original, filter = "", all = original.length <= first;
    let more = null, count = null;
    const show = () => {
      let shown = 0, found = 0;
      for (const row of order) {
        const fits = !filter || row.textContent.toLowerCase().includes(filter) ||
          [...row.cells].some(cell => cell.title.toLowerCase().includes(filter));
        found += fits;
        row.hidden = !fits || (!all && shown >= first);
        shown += !row.hidden;
      }
      if (count) {
        count.textContent = `${shown} of ${found} rows shown`;
        more.hidden = all || shown === found;
      }
    };
    if (original.length > 1) headings.forEach((heading, at) => {
      const numeric = heading.classList.contains("n"), name = heading.textContent;
      const sort = button(name, () => {
        // Numbers first come largest first, words in their order; a second press turns it round.
        const before = heading.getAttribute("aria-sort");
        const down = before ? before === "ascending" : numeric;
        headings.forEach(other => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keyed = original.map((row, place) => ({ row, place, key: value(row, at, numeric) }));
        const missing = key => numeric ? Number.isNaN(key) : key === "";
        keyed.sort((a, b) => missing(a.key) - missing(b.key) ||
          (missing(a.key) ? 0 : (down ? -1 : 1) * compare(a.key, b.key, numeric)) || a.place - b.place);
        order = keyed.map(entry => entry.row);
        body.append(...order);
        show();
        said.textContent = `sorted by ${name}, ${down ? "descending" : "ascending"}`;
      });
      heading.replaceChildren(sort);
    });
    if (all) continue;
    const tools = document.createElement("div");
    tools.className = "tools";
    if (table.dataset.first) {
      more = button(`Show all ${original.length}`, () => { all = true; show(); });
      count = document.createElement("span");
      tools.append(count, more);
      table.parentElement.after(tools);
      show();
      continue;
    }
    const input = document.createElement("input");
    input.type = "search";
    const label = document.createElement("label");
    label.append("Find ", input);
    let waiting = 0;
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { filter = input.value.trim().toLowerCase(); show(); }, 120);
    });
    more = button(`Show all ${original.length}`, () => { all = true; show(); });
    count = document.createElement("span");
    count.setAttribute("role", "status");
    tools.append(label, count, more);
    table.parentElement.before(tools);
    show();
  }
})();
