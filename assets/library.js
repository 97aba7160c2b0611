/* Opens other models and recordings, and brings a view back from a picture dropped on the page. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const KEYWORD = 'Waferscope-View';
  const FIRST_CHUNK = 8; // byte after a PNG's signature
  let isOpening = false;

  /* Show what the server offers, and a way to send a file along. */
  WS.openLibrary = async function () {
    const found = await WS.getJSON(`/api/library/${WS.session}`);
    if (!found) return;
    const group = (names) => names.map((name) => {
      const button = WS.make('button', {}, name);
      button.addEventListener('click', () => { WS.closeDialogs(); WS.openNamed(name); });
      return button;
    });
    const file = WS.make('input', { type: 'file', accept: '.onnx,.wscope', 'aria-label': 'file to send' });
    file.addEventListener('change', () => {
      if (!file.files.length) return;
      WS.closeDialogs();
      WS.sendFile(file.files[0]);
    });
    WS.openDialog('Open', 'What is opened takes the place of the run in this tab. A file can also ' +
      'be dropped on the page.', WS.runList(found.runs), WS.make('h3', {}, 'Demos'),
    WS.make('div', { class: 'choices' }, ...group(found.demos)),
    WS.make('h3', {}, 'In the folders of the server'),
    found.files.length ? WS.make('div', { class: 'choices' }, ...group(found.files))
      : WS.make('p', { class: 'muted' }, 'no .onnx model and no .wscope recording'),
    WS.make('h3', {}, 'From this computer'), file);
  };

  /* Show the run that the tab has now, as its server-side cursor has it. */
  WS.showRun = async function (name) {
    history.replaceState(null, '', location.pathname);
    WS.setDifference('off');
    await WS.refresh();
    WS.toast(`${name} is open`);
  };

  /* Ask the server to open something; the tab's news say how that stands. */
  async function open(name, path, options) {
    WS.toast(`Opening ${name}`);
    if (!await WS.send(path, options)) return;
    isOpening = true;
    WS.listen();
  }

  /* Show how the opening of a file stands: its progress over the map, then its end. */
  WS.showOpening = async function (opening) {
    if (opening && opening.state === 'running') {
      isOpening = true;
      const job = { ...opening, what: `Opening ${opening.what}`, ...opening.progress };
      WS.cover(WS.make('div', { class: 'opening' }, ...WS.jobLines(job, 'cancel-open')));
      return;
    }
    if (!isOpening || !opening) return;
    isOpening = false;
    WS.cover('');
    if (opening.state === 'done') await WS.showRun(opening.what);
    else if (opening.state === 'failed') await WS.showRefusal(opening);
    else WS.toast(`${opening.what} was not opened`);
  };

  WS.isOpening = () => isOpening;
  WS.cancelOpening = () => WS.send(`/api/cancel-open/${WS.session}`);

  WS.openNamed = (name) => open(name, `/api/open/${WS.session}`, {
    headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name }) });

  WS.sendFile = (file) => open(file.name,
    `/api/upload/${WS.session}/${encodeURIComponent(file.name.replace(/[^\w.-]+/g, '-'))}`,
    { headers: { 'Content-Type': 'application/octet-stream' }, body: file });

  /* Return the view that a PNG carries in a text chunk, null when there is none. */
  WS.viewOf = function (buffer) {
    const view = new DataView(buffer);
    const text = (from, to) => String.fromCharCode(...new Uint8Array(buffer.slice(from, to)));
    let at = FIRST_CHUNK;
    while (at + 12 <= buffer.byteLength) {
      const size = view.getUint32(at);
      if (text(at + 4, at + 8) === 'tEXt' && size < 4096) {
        const [keyword, value] = text(at + 8, at + 8 + size).split('\0');
        if (keyword === KEYWORD) return value;
      }
      at += 12 + size;
    }
    return null;
  };

  async function restoreFrom(file) {
    const found = WS.viewOf(await file.arrayBuffer());
    if (!found) {
      WS.toast(`${file.name} carries no view; export a PNG here to have one that does`, 'alert');
      return;
    }
    await WS.restore(new URLSearchParams(found));
    WS.toast(`the view of ${file.name}`);
  }

  WS.startLibrary = function () {
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
      event.preventDefault();
      const file = event.dataTransfer.files[0];
      if (!file) return;
      if (/\.png$/i.test(file.name)) restoreFrom(file);
      else WS.sendFile(file);
    });
  };
})();
