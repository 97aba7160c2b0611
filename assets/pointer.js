/* Mouse and touch on the map: wheel zooms, drag pans, shift-drag zooms into a box, click selects,
   resting shows the exact numbers. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const RAMPS = ['inject', 'deliver'];
  let drag = null;
  let boxTimer = null;
  let restTimer = null;
  let band = null;
  let last = null;

  WS.startPointer = function () {
    band = WS.$('mesh').parentElement.appendChild(WS.make('div', { class: 'band', hidden: '' }));
    [WS.$('mesh'), WS.$('mesh-a')].forEach((canvas) => {
      canvas.addEventListener('wheel', onWheel, { passive: false });
      canvas.addEventListener('pointerdown', onDown);
      canvas.addEventListener('pointermove', onMove);
      canvas.addEventListener('pointerup', onUp);
      canvas.addEventListener('pointerleave', () => { if (!drag) hideHover(); });
    });
  };

  function place(event) {
    const rect = event.currentTarget.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  }

  function onWheel(event) {
    event.preventDefault();
    if (!WS.mesh.scene()) return;
    WS.mesh.zoomAt(...place(event), Math.exp(-event.deltaY * 0.0018));
    hideHover();
    settle();
  }

  function settle() {
    clearTimeout(boxTimer);
    boxTimer = setTimeout(WS.flushBox, 250);
  }

  /* Tell the server at once what is visible, if the canvas was moved since it was last told. */
  WS.flushBox = async function () {
    if (!boxTimer) return;
    clearTimeout(boxTimer);
    boxTimer = null;
    WS.mesh.box = WS.mesh.visible();
    await WS.sendBox(WS.mesh.box);
  };

  function onDown(event) {
    if (event.button !== 0 || !WS.mesh.scene()) return;
    const [x, y] = place(event);
    drag = { x, y, startX: x, startY: y, moved: false, box: event.shiftKey };
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  function onMove(event) {
    const [x, y] = place(event);
    if (!drag) return hover(x, y);
    if (Math.hypot(x - drag.startX, y - drag.startY) > 4) drag.moved = true;
    if (!drag.moved) return undefined;
    hideHover();
    if (drag.box) showBand(x, y);
    else WS.mesh.shift(x - drag.x, y - drag.y);
    drag.x = x;
    drag.y = y;
    return undefined;
  }

  function onUp(event) {
    WS.$('mesh').blur();
    if (!drag) return;
    const [x, y] = place(event);
    const done = drag;
    drag = null;
    band.hidden = true;
    if (!done.moved) {
      const pe = WS.mesh.peAt(x, y);
      if (pe) { WS.act('pe', ...pe); WS.showTab('inspect'); } else WS.act('clear');
    } else if (done.box) zoomToBand(done, x, y);
    else settle();
  }

  function showBand(x, y) {
    band.hidden = false;
    band.style.left = `${Math.min(x, drag.startX)}px`;
    band.style.top = `${Math.min(y, drag.startY)}px`;
    band.style.width = `${Math.abs(x - drag.startX)}px`;
    band.style.height = `${Math.abs(y - drag.startY)}px`;
  }

  function zoomToBand(done, x, y) {
    const { k, ox, oy, ratio } = WS.mesh;
    const [rows, cols] = WS.facts.grid;
    const clamp = (value, top) => Math.min(top - 1, Math.max(0, Math.floor(value)));
    const c0 = clamp((Math.min(x, done.startX) * ratio - ox) / k, cols);
    const c1 = clamp((Math.max(x, done.startX) * ratio - ox) / k, cols);
    const r0 = clamp((Math.min(y, done.startY) * ratio - oy) / k, rows);
    const r1 = clamp((Math.max(y, done.startY) * ratio - oy) / k, rows);
    const box = [r0, c0, r1 - r0 + 1, c1 - c0 + 1];
    WS.mesh.showBox(box);
    WS.sendBox(box);
  }

  function hideHover() {
    clearTimeout(restTimer);
    WS.$('hover').hidden = true;
  }

  function kernelAt(row, col) {
    const found = WS.facts.outlines.find((item) => row >= item.row && col >= item.col
      && row < item.row + item.rows && col < item.col + item.cols);
    return found ? found.name : 'no kernel';
  }

  /* Bring the numbers under a resting pointer up to date. */
  WS.hoverAgain = function () {
    if (!WS.$('hover').hidden && last) hover(...last);
  };

  /* Return wavelets a cycle with two digits. */
  WS.rate = (load) => (load === 0 || load >= 0.1 ? load.toFixed(2) : String(Number(load.toPrecision(2))));

  /* Return the value of a code in few letters, for a PE large enough to hold it. */
  WS.shortValue = function (scene, code) {
    const { kind } = scene.metric;
    if (kind === 'difference') return code === scene.nil ? '=' : WS.differenceText(scene, code).split(' ')[1];
    if (kind === 'category') return scene.metric.categories[code];
    const value = code * scene.unit;
    if (kind === 'fraction') return `${(100 * value).toFixed(0)}%`;
    if (kind === 'load') return WS.rate(value);
    return value >= 10_000 ? `${(value / 1000).toFixed(0)}k` : String(Math.round(value));
  };

  function valueOf(scene, code) {
    const { metric, unit } = scene;
    if (metric.kind === 'difference') return WS.differenceText(scene, code);
    if (metric.kind === 'category') return metric.categories[code];
    const value = code * unit;
    if (metric.kind === 'fraction') return `${(100 * value).toFixed(1)} %`;
    if (metric.kind === 'load') return `${WS.rate(value)} ${metric.unit}`;
    return `${unit === 1 ? '' : 'about '}${Math.round(value).toLocaleString('en')} B`;
  }

  function hover(x, y) {
    const pe = WS.mesh.peAt(x, y);
    last = [x, y];
    if (!pe) return hideHover();
    const scene = WS.mesh.scene();
    const [row, col] = pe;
    const code = scene.codes[row * scene.facts.grid[1] + col];
    const box = WS.$('hover');
    const lines = [
      WS.make('b', {}, `PE (${row}, ${col})`), WS.make('span', {}, kernelAt(row, col)),
      WS.make('span', {}, `${scene.metric.label}: ${valueOf(scene, code)}`),
    ];
    box.replaceChildren(...lines);
    box.hidden = false;
    const area = WS.$('mesh').getBoundingClientRect();
    box.style.left = `${Math.min(x + 14, area.width - box.offsetWidth - 6)}px`;
    box.style.top = `${y + 18 + box.offsetHeight > area.height ? y - box.offsetHeight - 8 : y + 18}px`;
    clearTimeout(restTimer);
    restTimer = setTimeout(() => exact(row, col, box), 140);
    return undefined;
  }

  async function exact(row, col, box) {
    const view = await WS.getJSON(`/api/pe/${WS.session}/${row}/${col}`);
    if (!view || box.hidden || view.step !== WS.state.cursor.step) return;
    if (box.firstChild.textContent !== `PE (${row}, ${col})`) return;
    const { id, kind } = WS.mesh.scene().metric;
    if (kind === 'load') {
      const links = view.links.filter(({ plane }) => (
        id === 'traffic' ? !RAMPS.includes(plane) : id === `link_${plane}`));
      const words = links.reduce((sum, link) => sum + link.words, 0);
      box.append(WS.make('span', {}, `${words.toLocaleString('en')} wavelets in this step`));
    }
    view.causes.filter((cause) => cause.step_cycles > 0)
      .sort((a, b) => b.step_cycles - a.step_cycles).slice(0, 3)
      .forEach((cause) => box.append(WS.make('span', { class: 'muted' },
        `${cause.cause} ${cause.step_cycles.toLocaleString('en')} of ` +
        `${view.step_cycles.toLocaleString('en')} cycles`)));
  }
})();
