// Opens an address of this dashboard as a link does, with one entry in the history of the browser. Streamlit's own change
// of pages adds a second entry: the page that the user leaves, with the parameters of the page that opens.
let opened;

export default function ({ data }) {
  if (data.number === opened) return; // drawn again
  opened = data.number;
  history.pushState({}, "", new URL(data.address, document.baseURI));
  window.dispatchEvent(new PopStateEvent("popstate"));
}
