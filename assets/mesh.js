/* The map: draws one frame of the mesh with outlines and the selection, at any zoom.
   Where a PE is smaller than a pixel, PEs are pooled, never blurred. Sends no command. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const mesh = (WS.mesh = { k: 1, ox: 0, oy: 0, box: null, follows: true });
  const FOOT = 32; // CSS pixels below a fitted map, for the sentence about it
  const NARROW = 900; // CSS pixels of the canvas below which the sentence may take two lines
  const SECOND_LINE = 20;
  const MARGIN = 14; // CSS pixels west of a fitted map, beside which the plate of the turn has its place
  const PLATE = 580; // CSS pixels that it takes at most
  const NO_FRAME_MS = 250;
  const plate = { picture: document.createElement('canvas'), image: null, built: '' };
  let canvas = null;
  let plainName = ''; // the canvas's name for screen readers, to which a hit is added
  let ctx = null;
  let scene = null; // {codes, levels, unit, metric, facts, striped, step, run, log}
  let version = 0;
  let queued = false;
  let wanted = '';

  window.MESH = { step: null, run: null, metric: null, k: 0, ox: 0, oy: 0, painted: 0 };

  mesh.start = function () {
    canvas = WS.$('mesh');
    plainName = canvas.getAttribute('aria-label');
    ctx = canvas.getContext('2d', { alpha: false });
    new ResizeObserver(resize).observe(canvas.parentElement);
    resize();
  };

  function resize() {
    const rect = canvas.parentElement.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const before = mesh.ratio || ratio;
    mesh.ratio = ratio;
    canvas.width = Math.max(1, Math.round(rect.width * ratio));
    canvas.height = Math.max(1, Math.round(rect.height * ratio));
    canvas.style.width = `${rect.width}px`;
    canvas.style.height = `${rect.height}px`;
    if (mesh.follows && mesh.box) mesh.showBox(mesh.box);
    else mesh.k *= ratio / before;
    mesh.redraw();
  }

  /* Show what the state says; resolves with 'painted', 'overtaken' by a newer one, or 'missing'. */
  mesh.show = async function (state, facts) {
    const run = state.status.run_id;
    const { step, metric, log } = state.cursor;
    const key = `${run}/${metric}/${step}/${log}/${WS.differenceMode()}`;
    wanted = key;
    const [codes, levels, causes, differs, beside] = await Promise.all([
      WS.frame(run, metric, step), WS.levels(run, metric, log), WS.frame(run, 'cause', 0),
      WS.differenceMode() === 'off' ? null : WS.differenceScene(run, metric, step),
      WS.besideScene(run, metric, step, log),
    ]);
    if (wanted !== key || facts !== WS.facts) return 'overtaken';
    if (!codes || !levels || !causes) return 'missing';
    if (!differs && WS.differenceMode() !== 'off') WS.setDifference('off');
    if (facts.striped === undefined) {
      facts.striped = Uint8Array.from(causes, (code) => (facts.stripes.includes(code) ? 1 : 0));
    }
    scene = { codes, ...levels, metric: WS.metric(metric), facts, step, run, log, nil: 0, ...differs };
    version += 1;
    canvas.setAttribute('aria-label', state.hit ? `${plainName}; ${state.hit.text}` : plainName);
    if (differs) WS.showDifferenceLegend(scene);
    WS.tieBeside(beside);
    await mesh.paint();
    return 'painted';
  };

  mesh.scene = () => scene;

  /* Fit a rectangle of PEs [row, col, rows, cols] into the canvas. */
  mesh.showBox = function (box) {
    const [row, col, rows, cols] = box;
    mesh.box = box;
    mesh.follows = true;
    const foot = canvas.clientWidth < NARROW ? FOOT + SECOND_LINE : FOOT;
    const height = Math.max(16, canvas.height - foot * mesh.ratio);
    mesh.k = 0.96 * Math.min(canvas.width / cols, height / rows);
    const spare = canvas.width - cols * mesh.k;
    const west = Math.max(MARGIN * mesh.ratio, spare - PLATE * mesh.ratio);
    mesh.ox = (WS.state && WS.state.streaming ? Math.min(spare / 2, west) : spare / 2) - col * mesh.k;
    mesh.oy = height / 2 - (row + rows / 2) * mesh.k;
    mesh.redraw();
  };

  /* Return the PE under a point in CSS pixels of the canvas, null outside the mesh. */
  mesh.peAt = function (x, y) {
    if (!scene) return null;
    const col = Math.floor((x * mesh.ratio - mesh.ox) / mesh.k);
    const row = Math.floor((y * mesh.ratio - mesh.oy) / mesh.k);
    const [rows, cols] = scene.facts.grid;
    return row >= 0 && col >= 0 && row < rows && col < cols ? [row, col] : null;
  };

  /* Return the CSS pixel at the middle of a PE. */
  mesh.pointOf = (row, col) => [((col + 0.5) * mesh.k + mesh.ox) / mesh.ratio,
    ((row + 0.5) * mesh.k + mesh.oy) / mesh.ratio];

  mesh.visible = function () {
    const [rows, cols] = scene.facts.grid;
    const row = Math.max(0, Math.floor(-mesh.oy / mesh.k));
    const col = Math.max(0, Math.floor(-mesh.ox / mesh.k));
    const end = Math.min(rows, Math.ceil((canvas.height - mesh.oy) / mesh.k));
    const right = Math.min(cols, Math.ceil((canvas.width - mesh.ox) / mesh.k));
    return [row, col, Math.max(1, end - row), Math.max(1, right - col)];
  };

  mesh.zoomAt = function (x, y, factor) {
    const [rows, cols] = scene.facts.grid;
    const least = 0.5 * Math.min(canvas.width / cols, canvas.height / rows);
    const k = Math.min(160 * mesh.ratio, Math.max(least, mesh.k * factor));
    const [px, py] = [x * mesh.ratio, y * mesh.ratio];
    mesh.ox = px - ((px - mesh.ox) * k) / mesh.k;
    mesh.oy = py - ((py - mesh.oy) * k) / mesh.k;
    mesh.k = k;
    mesh.follows = false;
    mesh.redraw();
  };

  mesh.shift = function (dx, dy) {
    mesh.ox += dx * mesh.ratio;
    mesh.oy += dy * mesh.ratio;
    mesh.follows = false;
    mesh.redraw();
  };

  mesh.redraw = function () {
    if (!queued && scene) mesh.paint();
  };

  /* Draw with the next frame of the screen, or soon where there is none: a tab that is covered gets
     no frames, and who comes back to it, or asks it how it stands, finds it as it should be. */
  function nextFrame(paint) {
    let done = false;
    const once = () => {
      if (done) return;
      done = true;
      paint();
    };
    requestAnimationFrame(once);
    setTimeout(once, NO_FRAME_MS);
  }

  mesh.paint = function () {
    queued = true;
    return new Promise((resolve) => nextFrame(() => {
      queued = false;
      draw();
      WS.drawBeside();
      Object.assign(window.MESH, { step: scene.step, run: scene.run, metric: scene.metric.id,
        difference: scene.about ? WS.differenceMode() : 'off', k: mesh.k, ox: mesh.ox, oy: mesh.oy, painted: window.MESH.painted + 1 });
      resolve();
    }));
  };

  /* Turn a scene's codes into the pixels of a plate, which are kept from frame to frame. */
  function build(plate, scene, f, version) {
    const theme = document.documentElement.dataset.theme;
    const key = `${version}/${f}/${theme}`;
    if (plate.built === key) return;
    plate.built = key;
    const { metric, facts, levels, nil } = scene;
    const { picture } = plate;
    let { image } = plate;
    const pooled = WS.pool(scene.codes, facts.striped, ...facts.grid, f, metric.pool);
    const category = metric.kind === 'category';
    const colours = WS.colours(metric.palette, theme);
    if (!image || image.width !== pooled.cols || image.height !== pooled.rows) {
      picture.width = pooled.cols; // a canvas set to its own size would still take new memory
      picture.height = pooled.rows;
      image = new ImageData(pooled.cols, pooled.rows);
      plate.image = image;
    }
    const pixels = new Uint32Array(image.data.buffer);
    const { codes, blank } = pooled;
    for (let i = 0; i < pixels.length; i++) {
      const code = codes[i];
      const hatched = category ? facts.stripes.includes(code) : code === nil && blank[i];
      pixels[i] = hatched ? 0 : colours[levels[code]];
    }
    picture.getContext('2d').putImageData(image, 0, 0);
  }

  /* Draw a scene where the viewport of the map has it; returns how many PEs a side share a pixel. */
  mesh.drawScene = function (ctx, canvas, plate, scene, version) {
    const { k, ox, oy } = mesh;
    const [rows, cols] = scene.facts.grid;
    const f = k >= 1 ? 1 : Math.ceil(1 / k);
    build(plate, scene, f, version);
    const { picture } = plate;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = WS.css('--map');
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    WS.hatch(ctx, ox, oy, cols * k, rows * k);
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(picture, ox, oy, picture.width * f * k, picture.height * f * k);
    WS.drawOverlay(ctx, canvas, mesh, scene);
    return f;
  };

  function draw() {
    const f = mesh.drawScene(ctx, canvas, plate, scene, version);
    const shared = { mode: 'commonest', extreme: 'farthest from equal' }[scene.metric.pool] || scene.metric.pool;
    mesh.pooling = f > 1 ? `${shared} of ${f}x${f} PEs a pixel` : '';
    WS.$('pooling').textContent = mesh.pooling;
    const [, cols] = scene.facts.grid;
    WS.keepTurnAside((canvas.width - mesh.ox - cols * mesh.k) / mesh.ratio);
  }
})();
