// Draws the charts in the reader's colours, anew when these change, and in light ones on paper.
"use strict";
(() => {
  const given = JSON.parse(document.getElementById("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  const NONE = "rgba(0, 0, 0, 0)";
  const PAPER_WIDTH = 960; // of a landscape sheet, in pixels

  const coloured = (figure, look) => {
    const put = (_, place) => `"${look.colours[Number(place) - 1]}"`;
    return JSON.parse(JSON.stringify(figure).replace(/"#00000([1-8])"/g, put));
  };

  const draw = () => {
    const look = given.looks[dark.matches && !paper.matches ? "dark" : "light"];
    for (const [name, figure] of Object.entries(given.figures)) {
      const { data, layout } = coloured(figure, look);
      const font = { color: look.text, family: "system-ui, sans-serif", size: 13 };
      Object.assign(layout, { font, paper_bgcolor: NONE, plot_bgcolor: NONE, autosize: !paper.matches });
      if (paper.matches) layout.width = PAPER_WIDTH;
      for (const axis of ["xaxis", "yaxis"]) {
        const lines = { gridcolor: look.line, zerolinecolor: look.line, linecolor: look.line };
        layout[axis] = { ...layout[axis], ...lines, automargin: true };
      }
      Plotly.react(name, data, layout, { displaylogo: false, responsive: true });
    }
  };

  draw();
  dark.addEventListener("change", draw);
  paper.addEventListener("change", draw);
})();
