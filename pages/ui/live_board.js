// Figures of a running benchmark. The component with a link receives the news for all components of the page, as
// `window.koderzNews`. They replace what the page's script has drawn, so that all parts always show the same moment.
// Rates contain names, which are hostile: textContent only.
const boards = new WeakMap();

export default function ({ data, parentElement }) {
  if (!boards.has(parentElement)) boards.set(parentElement, new Board(parentElement));
  const board = boards.get(parentElement);
  if ("link" in data) board.connect(data.link);
  board.show(data);
  return () => board.stop();
}

class Board {
  constructor(parent) {
    this.root = add(parent, "div", "board");
    this.hear = () => this.show(this.data);
  }

  connect(link) {
    if (link === this.link && !(this.socket?.readyState > WebSocket.OPEN)) return;
    this.close();
    this.link = link;
    if (!link) return;
    const url = new URL(link, document.baseURI);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.socket = new WebSocket(url));
    socket.onopen = () => socket.send("");
    socket.onclose = () => socket === this.socket && delete window.koderzNews;
    socket.onmessage = ({ data }) => {
      window.koderzNews = JSON.parse(data);
      window.dispatchEvent(new Event("koderz-news"));
      requestAnimationFrame(() => socket.readyState === WebSocket.OPEN && socket.send("")); // painted
    };
  }

  close() {
    this.socket?.close();
    delete window.koderzNews;
  }

  stop() {
    window.removeEventListener("koderz-news", this.hear);
    if (this.socket) this.close();
  }

  show(data) {
    window.addEventListener("koderz-news", this.hear);
    this.data = data;
    const news = window.koderzNews;
    if (news?.benchmark === data.benchmark)
      data = Object.fromEntries(Object.keys(data).map((name) => [name, news[name]]));
    const { bar, figures = [], rates = [] } = data;
    const shape = JSON.stringify([Boolean(bar), figures.map(([name]) => name), rates.length]);
    if (shape !== this.shape) this.build(bar, figures, rates);
    this.shape = shape;
    if (bar) {
      this.full.style.width = `${100 * bar.share}%`;
      this.track.setAttribute("aria-valuenow", Math.round(100 * bar.share));
      this.text.textContent = bar.text;
    }
    figures.forEach(([, value], place) => (this.values[place].textContent = value));
    rates.forEach((line, place) => (this.lines[place].textContent = line));
  }

  build(bar, figures, rates) {
    this.root.replaceChildren();
    if (bar) {
      this.text = add(this.root, "div", "text");
      this.track = add(this.root, "div", "track");
      this.track.setAttribute("role", "progressbar");
      this.track.setAttribute("aria-label", "Experiments with a result");
      this.full = add(this.track, "div", "full");
    }
    const list = figures.length && add(this.root, "dl");
    this.values = figures.map(([name]) => {
      const figure = add(list, "div");
      add(figure, "dt").textContent = name;
      return add(figure, "dd");
    });
    this.lines = rates.map(() => add(this.root, "div", "rate"));
  }
}

function add(parent, tag, name = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  return parent.appendChild(element);
}
