// The matrix in the browser: a canvas per block of columns, redrawn in place. Names are hostile: textContent only.

const WIDE = 640; // pixels; a narrower matrix has letters beside its cells and the names above them
const SIZES = [14, 13, 12, 11, 10]; // pixels of a cell with its gap
const ROW = 14, REPEAT = 5, GAP = 4; // pixels: least height of a row, least height of a repeat, gap below repeats
const SHADES = [1, 0.68, 0.46, 0.3]; // opacity of a cell that was solved at the first, second, third or a later attempt
const FLAT = 8; // pixels: a lower cell has no room for an outline
const ORDINALS = ["1st", "2nd", "3rd", "4th or later"];
const STEPS = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0],
};
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!views.has(parentElement)) views.set(parentElement, new View(parentElement));
  const view = views.get(parentElement);
  view.send = (place) => setTriggerValue("cell", place);
  view.show(data);
  return () => view.stop();
}

class View {
  constructor(parent) {
    this.root = add(parent, "div", "matrix");
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "application");
    this.legend = add(this.root, "div", "legend");
    this.key = add(this.root, "div", "key");
    this.blocks = add(this.root, "div", "blocks");
    this.rings = { chosen: add(this.root, "div", "ring chosen"), cursor: add(this.root, "div", "ring cursor") };
    this.tip = add(this.root, "div", "tip");
    this.spoken = add(this.root, "div", "spoken");
    this.spoken.setAttribute("aria-live", "polite");
    this.watch = new ResizeObserver(() => this.data && this.draw());
    this.hear = () => this.show({ ...this.data, chosen: this.chosen });
    this.listen();
  }

  stop() {
    this.watch.disconnect();
    window.removeEventListener("koderz-news", this.hear);
  }

  listen() {
    this.root.addEventListener("pointermove", (event) => {
      const place = this.at(event);
      if (String(place) !== String(this.cursor)) this.point(place);
    });
    this.root.addEventListener("pointerleave", () => this.point(null));
    this.root.addEventListener("click", (event) => this.choose(this.at(event)));
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.root.addEventListener("blur", () => this.point(null));
  }

  show(data) {
    this.watch.observe(this.root);
    window.addEventListener("koderz-news", this.hear);
    const news = window.koderzNews; // see live_board.js
    this.data = news && news.benchmark === data.benchmark ? { ...data, ...news.cells } : data;
    this.chosen = data.chosen;
    this.root.setAttribute("aria-label", `${this.data.finding} The arrow keys move between cells, and Enter opens a cell.`);
    this.draw();
  }

  draw() {
    const width = this.root.clientWidth;
    if (!width) return; // hidden: the observer calls again
    this.colours = coloursOf(this.root);
    const { problems, lines, repeats, hardestFirst } = this.data, names = lines.map(({ name, label }) => [name, label]);
    const shape = JSON.stringify([width, devicePixelRatio, problems.length, repeats, hardestFirst, names]);
    if (shape !== this.shape) this.build(width);
    this.shape = shape;
    lines.forEach((line, place) => this.totals.forEach((rows) => (rows[place].textContent = line.total)));
    this.contexts.forEach((context, block) => this.paint(context, block));
    this.explain();
    this.place("chosen", this.chosen);
    this.point(this.cursor);
  }

  build(width) {
    const { problems, lines, repeats, hardestFirst } = this.data;
    this.cursor = null;
    this.wide = width >= WIDE;
    this.root.classList.toggle("narrow", !this.wide);
    const names = this.wide ? Math.min(namesWidth(this.root, lines, problems.length * repeats), 0.4 * width) : 24;
    const fit = (size) => Math.max(1, Math.floor((width - names) / size));
    const fewest = Math.min(...SIZES.map((size) => Math.ceil(problems.length / fit(size))));
    this.size = SIZES.find((size) => Math.ceil(problems.length / fit(size)) === fewest);
    this.columns = Math.ceil(problems.length / fewest);
    this.band = Math.max(REPEAT, Math.floor(ROW / repeats));
    this.row = repeats === 1 ? Math.max(this.size, ROW) : this.band * repeats + GAP;
    this.blocks.replaceChildren();
    this.key.replaceChildren();
    this.totals = this.wide ? [] : [lines.map((line) => this.name(this.key, line))];
    this.rows = lines.map(() => []);
    this.contexts = Array.from({ length: fewest }, (_, block) => {
      const first = block * this.columns, last = Math.min(first + this.columns, problems.length);
      const range = fewest > 1 ? `Problems ${first + 1} to ${last}` : `${last} problem${last === 1 ? "" : "s"}`;
      const title = add(this.blocks, "div", "range");
      title.textContent = range + (hardestFirst && !first && last > 1 ? ", hardest first" : "");
      title.style.marginLeft = `${names}px`;
      return this.block(names, last - first);
    });
  }

  block(names, columns) {
    const block = add(this.blocks, "div", "block"), side = add(block, "div", "side");
    side.style.width = `${names}px`;
    const totals = this.data.lines.map((line, place) => {
      const row = add(side, "div", "row");
      this.rows[place].push(row);
      row.style.height = `${this.row}px`;
      return this.name(row, line);
    });
    if (this.wide) this.totals.push(totals);
    return sized(add(block, "canvas"), [columns * this.size, this.data.lines.length * this.row]);
  }

  name(parent, line) {
    const name = add(parent, "div", "name");
    name.title = line.label;
    add(name, "b").textContent = line.letter;
    add(name, "span").textContent = line.name;
    return add(name, "i");
  }

  paint(context, block) {
    const { problems, lines, repeats } = this.data, first = block * this.columns;
    const last = Math.min(first + this.columns, problems.length);
    context.clearRect(0, 0, this.columns * this.size, lines.length * this.row);
    lines.forEach((line, place) => {
      for (let problem = first; problem < last; problem++)
        for (let repeat = 0; repeat < repeats; repeat++)
          this.cell(context, line.cells[problem * repeats + repeat], this.corner(problem - first, place, repeat));
    });
  }

  cell(context, code, sides) {
    const [attempts, place] = split(code, this.data.states.length);
    if (code >= 0) paintCell(context, this.data.states[place][0], attempts, this.colours, sides);
  }

  corner(column, line, repeat) {
    const height = this.data.repeats === 1 ? this.row : this.band;
    return [column * this.size, line * this.row + repeat * height, this.size - 1, height - 1];
  }

  explain() {
    const { lines, states } = this.data, found = new Set();
    for (const line of lines)
      for (const code of line.cells)
        if (code >= 0) {
          const [attempts, place] = split(code, states.length);
          found.add(place * SHADES.length + (states[place][0] === "solved" ? shadeOf(attempts) : 0));
        }
    const items = [...found].sort((a, b) => a - b), shape = JSON.stringify([items, this.colours]);
    if (shape === this.explained) return;
    this.explained = shape;
    this.legend.replaceChildren();
    items.forEach((item, index) => {
      const [place, shade] = split(item, SHADES.length), [state, word] = states[place];
      const entry = add(this.legend, "span", "entry");
      paintCell(sized(add(entry, "canvas"), [12, 12]), state, shade + 1, this.colours, [0, 0, 12, 12]);
      const first = items[1] < SHADES.length ? `${word} at the ${ORDINALS[shade]} attempt` : word;
      add(entry, "span").textContent = state !== "solved" ? word : index ? ORDINALS[shade] : first;
    });
  }

  at(event) {
    const block = this.contexts.findIndex((context) => event.composedPath().includes(context.canvas));
    if (block < 0) return null;
    const box = this.contexts[block].canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top, height = this.corner(0, 0, 0)[3] + 1;
    const line = clamp(Math.floor(y / this.row), this.data.lines.length);
    const repeat = clamp(Math.floor((y - line * this.row) / height), this.data.repeats);
    return [clamp(block * this.columns + Math.floor(x / this.size), this.data.problems.length), line, repeat];
  }

  press(event) {
    const { problems, lines, repeats } = this.data, start = this.cursor || this.chosen || [0, 0, 0];
    const step = STEPS[event.key];
    if (step) {
      const level = clamp(start[1] * repeats + start[2] + step[1], lines.length * repeats);
      this.point([clamp(start[0] + step[0], problems.length), ...split(level, repeats)], true);
    } else if (event.key === "Enter" || event.key === " ") this.choose(this.cursor);
    else if (event.key === "Escape") this.point(null);
    else return;
    event.preventDefault();
  }

  choose(place) {
    if (!place || this.code(place) < 0) return;
    this.chosen = place;
    this.place("chosen", place);
    this.send(place);
    if (this.data.reveal) document.querySelector(`.st-key-${this.data.reveal}`)?.scrollIntoView({ block: "nearest" });
  }

  point(place, aloud = false) {
    this.cursor = place;
    this.place("cursor", place);
    this.rows.forEach((rows, line) => rows.forEach((row) => row.classList.toggle("at", place?.[1] === line)));
    this.tip.hidden = !place;
    if (!place) return;
    const words = this.words(place), ring = this.rings.cursor;
    this.tip.replaceChildren();
    for (const word of words) add(this.tip, "div").textContent = word;
    const left = Math.min(ring.offsetLeft, this.root.clientWidth - this.tip.offsetWidth);
    this.tip.style.transform = `translate(${Math.max(0, left)}px, ${ring.offsetTop + ring.offsetHeight + 6}px)`;
    if (aloud) this.spoken.textContent = words.join(", ");
  }

  words([problem, line, repeat]) {
    const { problems, lines, states, repeats } = this.data, code = this.code([problem, line, repeat]);
    const [attempts, state] = split(code, states.length), [name, word] = states[state] || [];
    const tried = `${attempts} attempt${attempts === 1 ? "" : "s"}`;
    const outcome = { solved: `solved at attempt ${attempts}`, unsolved: `unsolved after ${tried}` }[name];
    const said = code < 0 ? "no experiment" : outcome || (attempts ? `${word} after ${tried}` : word);
    return [problems[problem], lines[line].label, repeats > 1 ? `repeat ${repeat + 1} of ${repeats}: ${said}` : said];
  }

  code([problem, line, repeat]) {
    return this.data.lines[line]?.cells[problem * this.data.repeats + repeat] ?? -1;
  }

  place(name, place) {
    const ring = this.rings[name], context = place && this.contexts[Math.floor(place[0] / this.columns)];
    ring.hidden = !context;
    if (!context) return;
    const [x, y, width, height] = this.corner(place[0] % this.columns, place[1], place[2]);
    const from = this.root.getBoundingClientRect(), box = context.canvas.getBoundingClientRect();
    const left = box.left - from.left + x - 2, top = box.top - from.top + y - 2;
    const sides = { left, top, width: width + 4, height: height + 4 };
    for (const [side, pixels] of Object.entries(sides)) ring.style[side] = `${pixels}px`;
  }
}

function paintCell(context, state, attempts, colours, [x, y, width, height]) {
  const fill = (colour, opacity, inset = [0, 0]) => {
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.fillRect(x + inset[0], y + inset[1], width - 2 * inset[0], height - 2 * inset[1]);
    context.globalAlpha = 1;
  };
  const outline = (colour, opacity) => {
    fill(colour, opacity);
    context.strokeStyle = colour;
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  };
  const dash = (from, to) => {
    context.beginPath();
    context.moveTo(x + 2, y + from * height);
    context.lineTo(x + width - 2, y + to * height);
    context.stroke();
  };
  context.lineWidth = 1;
  if (state === "solved") fill(colours.solved, SHADES[shadeOf(attempts)]);
  else if (state === "unsolved") {
    if (height < FLAT) fill(colours.unsolved, 0.5);
    else outline(colours.unsolved, 0.25);
  } else if (state === "running") {
    outline(colours.running, 0);
    fill(colours.running, 1, [width / 3, height / 3]);
  } else if (state === "error" || state === "cancelled") {
    outline(colours.grey, 0.25);
    context.strokeStyle = colours.text;
    if (state === "cancelled") dash(0.5, 0.5);
    else dash(0.15, 0.85), dash(0.85, 0.15);
  } else if (state === "planned") fill(colours.grey, 0.6, [width / 2 - 1, height / 2 - 1]);
  else outline(colours.grey, 0);
}

function coloursOf(element) {
  const style = getComputedStyle(element), of = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const chart = of("chart-categorical-colors").split(",");
  return { solved: chart[0], unsolved: chart[1], running: chart[2], grey: chart[6], text: of("text-color") };
}

function namesWidth(element, lines, most) {
  const context = document.createElement("canvas").getContext("2d"), style = getComputedStyle(element);
  context.font = `${style.fontSize} ${style.fontFamily}`;
  const widths = lines.map((line) => context.measureText(`${line.letter}  ${line.name}  ${most}/${most}`).width);
  return Math.ceil(Math.max(80, ...widths)) + 28;
}

function shadeOf(attempts) {
  return clamp(attempts - 1, SHADES.length);
}

function split(number, base) {
  return [Math.floor(number / base), number % base];
}

function sized(canvas, size) {
  const scale = devicePixelRatio, context = canvas.getContext("2d");
  [canvas.width, canvas.height] = size.map((pixels) => Math.ceil(pixels * scale));
  [canvas.style.width, canvas.style.height] = size.map((pixels) => `${pixels}px`);
  context.scale(scale, scale);
  return context;
}

function clamp(number, length) {
  return Math.min(Math.max(number, 0), length - 1);
}

function add(parent, tag, name = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  return parent.appendChild(element);
}
