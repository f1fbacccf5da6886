// Draws the charts in the reader's colours, anew when these change, and in light ones on paper.
"use strict";
(() => {
  const given = JSON.parse(document.getElementById("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  const NONE = "rgba(0, 0, 0, 0)";
  const PAPER_WIDTH = 960; // of a landscape sheet, in pixels

  const coloured = (figure, look) => {
    const others = { "36": look.quiet, "37": look.text, "38": look.ground };
    const put = (_, place) => others[place] ?? look.colours[Number(place) - 1];
    return JSON.parse(JSON.stringify(figure).replace(/#0000(0[1-8]|3[678])(?=["'])/g, put));
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
        layout[axis] = { automargin: true, ...layout[axis], ...lines };
      }
      const png = { format: "png", scale: 2, filename: `koderz-${given.subject}-${name}` };
      const svg = {
        name: "svg",
        title: "Download as SVG",
        icon: Plotly.Icons.disk,
        click: (chart) => Plotly.downloadImage(chart, { format: "svg", filename: png.filename }),
      };
      const buttons = { toImageButtonOptions: png, modeBarButtonsToAdd: [svg] };
      Plotly.react(name, data, layout, { displaylogo: false, responsive: true, ...buttons });
    }
  };

  draw();
  dark.addEventListener("change", draw);
  paper.addEventListener("change", draw);
})();
