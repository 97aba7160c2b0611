/* The map that compares two runs: its codes, its legend, and whether it is on. Draws nothing. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const EQUAL = 128; // code of PEs that do not differ
  const same = Uint8Array.from({ length: 256 }, (_, code) => code);
  let mode = 'off'; // off | run | step
  let kept = { key: '', promise: null };

  WS.differenceMode = () => mode;

  WS.setDifference = function (wanted) {
    mode = ['run', 'step'].includes(wanted) ? wanted : 'off';
    kept = { key: '', promise: null };
    document.body.classList.toggle('differs', mode !== 'off');
    WS.forgetMoment();
    if (WS.state) {
      WS.apply(WS.state);
      WS.writeHash();
    }
    WS.showMoment();
  };

  async function load(run, metric, step) {
    const answer = await WS.getBytes(
      `/api/difference/${WS.session}/${run}/${mode}/${encodeURIComponent(metric)}/${step}`);
    if (!answer) return null;
    return { codes: new Uint8Array(answer.data), about: JSON.parse(answer.headers.get('X-About')) };
  }

  /* Return a promise of the scene's part that differs from a plain map's, null when there is none. */
  WS.differenceScene = async function (run, metricId, step) {
    const key = `${run}/${metricId}/${mode}/${mode === 'step' ? step : ''}`;
    if (kept.key !== key) kept = { key, promise: load(run, metricId, step) };
    const found = await kept.promise;
    if (!found) { if (kept.key === key) kept.key = ''; return null; }
    const metric = { ...WS.metric(metricId), kind: 'difference', palette: 'diverging', pool: 'extreme',
      label: `${found.about.label}, B less A`, unit: found.about.unit };
    return { codes: found.codes, levels: same, unit: found.about.limit / 127, metric, nil: EQUAL,
      about: found.about };
  };

  /* Return a difference as people read it. */
  WS.differenceText = function (scene, code) {
    const value = (code - EQUAL) * scene.unit;
    if (code === EQUAL) return 'equal';
    const sign = value > 0 ? '+' : '\u2212';
    const size = Math.abs(value);
    if (scene.metric.id === 'utilization' || scene.metric.id.startsWith('cause:')) {
      return `about ${sign}${(100 * size).toFixed(1)} points`;
    }
    return `about ${sign}${size >= 1000 ? Math.round(size).toLocaleString('en') : size.toPrecision(3)} ${scene.metric.unit}`;
  };

  /* Show the legend and the sentence of a difference. */
  WS.showDifferenceLegend = function (scene) {
    const { theme } = document.documentElement.dataset;
    const table = WS.tables.themes[theme].tables.diverging;
    const stops = Array.from({ length: 17 }, (_, index) => table[Math.round((index * 255) / 16)]);
    const ticks = scene.about.ticks.map(([position, text]) => (
      { type: 'Li', props: { children: text, style: { bottom: `${100 * position}%` } } }));
    WS.fill(WS.$('legend'), [
      { type: 'Div', props: { className: 'bar', children: [
        { type: 'Div', props: { className: 'ramp', style: {
          background: `linear-gradient(to top, ${stops.join(', ')})` } } },
        { type: 'Ul', props: { className: 'ticks', children: ticks } }] } },
      { type: 'P', props: { className: 'muted',
        children: `B less A: above, this run has more; ${scene.about.standing}` } },
      { type: 'Button', props: { className: 'small', 'data-do': 'difference', 'data-args': 'off',
        title: 'Show this run alone', children: 'Plain map' } },
    ]);
    WS.$('map-sentence').textContent = scene.about.sentence;
  };
})();
