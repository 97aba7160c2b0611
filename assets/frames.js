/* Frames of the map: fetched once, kept within a budget of bytes, turned into pixels.
   Knows codes and colours, no canvas on the page. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const BUDGET = 96 << 20;
  const kept = new Map();
  const tables = new Map();
  let held = 0;
  let facts = { run: null, promise: null }; // of the run asked for last

  const small = (metric) => metric.kind === 'fraction' || metric.kind === 'category';

  WS.metric = (id) => WS.tables.metrics.find((metric) => metric.id === id);

  /* Return a promise of what a run is, null when it is no longer shown. Every state that comes while
     the answer is out waits for the same one: a map of one answer is not put off by another. */
  WS.factsOf = function (run) {
    if (facts.run !== run) facts = { run, promise: WS.getJSON(`/api/run/${WS.session}/${run}`) };
    const asked = facts;
    asked.promise.then((answer) => { if (!answer && facts === asked) facts = { run: null, promise: null }; });
    return asked.promise;
  };

  /* Return a promise of the codes of a frame, null when the run is no longer shown. */
  WS.frame = function (run, metricId, step) {
    const key = `${run}/${metricId}/${step}`;
    const found = kept.get(key);
    if (found) {
      kept.delete(key);
      kept.set(key, found);
      return found.promise;
    }
    const entry = { bytes: 0 };
    entry.promise = WS.getBytes(
      `/api/frame/${WS.session}/${run}/${encodeURIComponent(metricId)}/${step}`,
    ).then((answer) => {
      if (!answer) { kept.delete(key); return null; }
      entry.bytes = answer.data.byteLength;
      held += entry.bytes;
      trim();
      return small(WS.metric(metricId)) ? new Uint8Array(answer.data)
        : new Uint16Array(answer.data);
    });
    kept.set(key, entry);
    return entry.promise;
  };

  function trim() {
    for (const [key, entry] of kept) {
      if (held <= BUDGET || kept.size <= 3) return;
      if (!entry.bytes) continue;
      held -= entry.bytes;
      kept.delete(key);
      entry.promise.then(release);
    }
  }

  /* Give the memory of a frame back at once, without waiting for the collector. */
  function release(codes) {
    const scene = WS.mesh.scene();
    if (!codes.buffer.transfer || (scene && scene.codes === codes)) return;
    codes.buffer.transfer(0);
  }

  /* Return a promise of {levels, unit}: colour level and value of a code. */
  WS.levels = function (run, metricId, log) {
    const key = `${run}/${metricId}/${log ? 1 : 0}`;
    if (!tables.has(key)) {
      if (tables.size > 40) tables.clear();
      tables.set(key, WS.getBytes(
        `/api/levels/${WS.session}/${run}/${encodeURIComponent(metricId)}/${log ? 1 : 0}`,
      ).then((answer) => {
        if (!answer) { tables.delete(key); return null; }
        return { levels: new Uint8Array(answer.data),
          unit: Number(answer.headers.get('X-Unit-Per-Code')) };
      }));
    }
    return tables.get(key);
  };

  const colours = new Map();
  WS.colours = function (name, theme) {
    const key = `${theme}/${name}`;
    if (!colours.has(key)) {
      const table = new Uint32Array(256);
      WS.tables.themes[theme].tables[name].forEach((text, index) => {
        const rgb = parseInt(text.slice(1), 16);
        table[index] = 0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
      });
      colours.set(key, table);
    }
    return colours.get(key);
  };

  /* Pool codes over f x f PEs (max, mean or mode) so that no hot PE is lost when zoomed out.
     Returns {codes, blank, rows, cols}; blank marks pixels whose PEs are all hatched. */
  WS.pool = function (codes, striped, rows, cols, f, kind) {
    if (f === 1) return { codes, blank: striped, rows, cols };
    const height = Math.ceil(rows / f);
    const width = Math.ceil(cols / f);
    const out = new codes.constructor(height * width);
    const blank = new Uint8Array(height * width);
    const pick = { max: poolMax, mean: poolMean, extreme: poolExtreme }[kind] || poolMode;
    for (let r = 0; r < height; r++) {
      const r1 = Math.min(rows, (r + 1) * f);
      for (let c = 0; c < width; c++) {
        const c1 = Math.min(cols, (c + 1) * f);
        const at = r * width + c;
        out[at] = pick(codes, cols, r * f, r1, c * f, c1);
        blank[at] = poolMin(striped, cols, r * f, r1, c * f, c1);
      }
    }
    return { codes: out, blank, rows: height, cols: width };
  };

  function poolMax(a, cols, r0, r1, c0, c1) {
    let best = 0;
    for (let r = r0; r < r1; r++) {
      for (let i = r * cols + c0; i < r * cols + c1; i++) if (a[i] > best) best = a[i];
    }
    return best;
  }

  function poolExtreme(a, cols, r0, r1, c0, c1) {
    let best = 128;
    for (let r = r0; r < r1; r++) {
      for (let i = r * cols + c0; i < r * cols + c1; i++) {
        if (Math.abs(a[i] - 128) > Math.abs(best - 128)) best = a[i];
      }
    }
    return best;
  }

  function poolMin(a, cols, r0, r1, c0, c1) {
    for (let r = r0; r < r1; r++) {
      for (let i = r * cols + c0; i < r * cols + c1; i++) if (!a[i]) return 0;
    }
    return 1;
  }

  function poolMean(a, cols, r0, r1, c0, c1) {
    let sum = 0;
    for (let r = r0; r < r1; r++) for (let i = r * cols + c0; i < r * cols + c1; i++) sum += a[i];
    const mean = sum / ((r1 - r0) * (c1 - c0));
    return mean > 0 ? Math.max(1, Math.round(mean)) : 0;
  }

  const votes = new Uint32Array(256);
  function poolMode(a, cols, r0, r1, c0, c1) {
    let best = a[r0 * cols + c0];
    for (let r = r0; r < r1; r++) {
      for (let i = r * cols + c0; i < r * cols + c1; i++) {
        votes[a[i]] += 1;
        if (votes[a[i]] > votes[best]) best = a[i];
      }
    }
    for (let r = r0; r < r1; r++) {
      for (let i = r * cols + c0; i < r * cols + c1; i++) votes[a[i]] = 0;
    }
    return best;
  }
})();
