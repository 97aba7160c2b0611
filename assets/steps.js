/* The bar of steps and choices, and the address of the page that brings a view back. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  let slider = null;

  WS.startSteps = function () {
    slider = WS.make('input', { type: 'range', min: 0, max: 0, step: 1, 'aria-label': 'step' });
    WS.$('slider').replaceChildren(slider);
    slider.addEventListener('input', () => WS.act('seek', Number(slider.value)));
    slider.addEventListener('pointerup', () => slider.blur());
    const choose = (id, command) => WS.$(id).addEventListener('change', (event) => {
      WS.act(command, event.target.value);
      event.target.blur();
    });
    choose('metric', 'metric');
    choose('stride', 'stride');
    choose('sample', 'sample');
  };

  WS.showSteps = function (state) {
    const { status, cursor } = state;
    slider.max = status.steps - 1;
    if (document.activeElement !== slider) slider.value = cursor.step;
    slider.setAttribute('aria-valuetext', `step ${cursor.step}: ${status.step_label}`);
    const number = (value) => value.toLocaleString('en');
    WS.$('step-label').textContent = status.step_label;
    WS.$('step-label').title = status.sentence;
    WS.$('step-cycles').textContent = `step ${number(cursor.step)} of ${number(status.steps)}, ` +
      `cycles ${number(status.cycle_start)} to ${number(status.cycle_end)} of ${number(status.makespan)}`;
    const sample = WS.$('sample');
    if (sample.options.length !== status.samples) {
      sample.replaceChildren(...Array.from({ length: status.samples },
        (_, index) => WS.make('option', { value: index }, String(index))));
    }
    sample.value = String(cursor.sample);
    WS.$('stride').value = cursor.stride;
    WS.$('metric').value = cursor.metric;
    WS.$('log').setAttribute('aria-pressed', cursor.log ? 'true' : 'false');
  };

  WS.showPlay = function (playing, speed) {
    const button = WS.$('play');
    button.setAttribute('aria-pressed', playing ? 'true' : 'false');
    button.title = `${playing ? 'Stop' : 'Play'} at ${speed} steps a second (space; [ and ] change it)`;
    button.firstElementChild.className = playing ? 'icon-pause' : 'icon-play';
  };

  /* Write the view into the page's address, so that a copied link or a reload brings it back. */
  WS.writeHash = function () {
    const { cursor } = WS.state;
    const parts = new URLSearchParams({ step: cursor.step, metric: cursor.metric, stride: cursor.stride });
    const { row, col, rows, cols } = cursor.viewport;
    parts.set('view', [row, col, rows, cols].join(','));
    if (cursor.sample) parts.set('sample', cursor.sample);
    if (cursor.log) parts.set('log', 1);
    if (cursor.selection.kind === 'pe') parts.set('pe', cursor.selection.pe.join(','));
    else if (cursor.selection.kind === 'kernel') parts.set('kernel', cursor.selection.kernel);
    else if (cursor.selection.kind === 'region') {
      const { row: north, col: west, rows: high, cols: wide } = cursor.selection.region;
      parts.set('region', [north, west, high, wide].join(','));
    }
    WS.tellCompared(parts);
    history.replaceState(null, '', `#${parts}`);
  };

  WS.readHash = () => new URLSearchParams(location.hash.slice(1));

  WS.restore = async function (wanted) {
    if (!WS.state) return;
    await WS.restoreCompared(wanted);
    const { cursor } = WS.state;
    const now = { step: String(cursor.step), metric: cursor.metric, stride: cursor.stride,
      sample: String(cursor.sample), pe: (cursor.selection.pe || []).join(','),
      kernel: cursor.selection.kernel, region: '' };
    const asked = (name) => wanted.has(name) && wanted.get(name) !== now[name];
    const view = (wanted.get('view') || '').split(',').map(Number);
    if (asked('metric')) await WS.act('metric', wanted.get('metric'));
    if (asked('stride')) await WS.act('stride', wanted.get('stride'));
    const isWhole = wanted.has('step'); // what a whole view does not name is as at the start
    if (isWhole && (wanted.get('sample') || '0') !== now.sample) {
      await WS.act('sample', wanted.get('sample') || 0);
    }
    if (isWhole && wanted.has('log') !== cursor.log) {
      await WS.act('log', wanted.has('log') ? 'on' : 'off'); // set, as others may bring the view back too
    }
    if (asked('step')) await WS.act('seek', wanted.get('step'));
    if (asked('pe')) await WS.act('pe', ...wanted.get('pe').split(','));
    else if (asked('kernel')) await WS.act('kernel', wanted.get('kernel'));
    else if (asked('region')) await WS.act('region', ...wanted.get('region').split(','));
    if (view.length === 4 && view.every(Number.isInteger)) {
      WS.mesh.showBox(view);
      await WS.sendBox(view);
    }
    WS.restoreBeside(wanted);
  };
})();
