/* The map of the run compared with, beside the one on screen: the same part of the mesh, the same
   metric and colours, at the same progress. Decides nothing; the map it is tied to leads. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const plate = { picture: document.createElement('canvas'), image: null, built: '' };
  let isOn = false;
  let scene = null;
  let version = 0;

  WS.isBeside = () => isOn;

  /* Show or hide the map of the run compared with. */
  WS.setBeside = function (wanted) {
    const is = Boolean(wanted && WS.state && WS.state.compared);
    if (wanted && !is) WS.toast('Nothing is compared: compare with a run first (d)', 'alert');
    if (is === isOn) return;
    isOn = is;
    scene = null;
    window.MESH.beside = null;
    WS.$('beside').hidden = !isOn;
    document.body.classList.toggle('beside', isOn);
    if (isOn) WS.setDifference('off');
    if (WS.state) WS.writeHash();
  };

  const get = (path) => WS.getBytes(`/api/${path}`);

  /* Return a promise of what the map beside shows at a step of the run on screen, null for nothing. */
  WS.besideScene = async function (run, metricId, step, log) {
    if (!isOn) return null;
    const facts = await WS.getJSON(`/api/beside/${WS.session}/${run}/${step}`);
    if (!facts) return null;
    const metric = WS.metric(metricId);
    const name = encodeURIComponent(metricId);
    const [frame, table, causes] = await Promise.all([
      get(`beside-frame/${WS.session}/${facts.run}/${name}/${facts.step}`),
      get(`beside-levels/${WS.session}/${facts.run}/${run}/${name}/${log ? 1 : 0}`),
      get(`beside-frame/${WS.session}/${facts.run}/cause/0`),
    ]);
    if (!frame || !table || !causes) return null;
    const isSmall = metric.kind === 'fraction' || metric.kind === 'category';
    facts.striped = Uint8Array.from(new Uint8Array(causes.data),
      (code) => (facts.stripes.includes(code) ? 1 : 0));
    return { codes: isSmall ? new Uint8Array(frame.data) : new Uint16Array(frame.data),
      levels: new Uint8Array(table.data), unit: Number(table.headers.get('X-Unit-Per-Code')),
      metric, facts, step: facts.step, run: facts.run, log, nil: 0 };
  };

  /* Take what comes with the next paint of the map. */
  WS.tieBeside = function (next) {
    if (!isOn) return;
    scene = next;
    version += 1;
    WS.$('beside-caption').textContent = scene ? scene.facts.caption : 'the run compared with is not there';
  };

  /* Paint, together with the map, at its size and viewport. */
  WS.drawBeside = function () {
    if (!isOn || !scene) return;
    const [from, canvas] = [WS.$('mesh'), WS.$('mesh-a')];
    if (canvas.width !== from.width) canvas.width = from.width;
    if (canvas.height !== from.height) canvas.height = from.height;
    canvas.style.width = from.style.width;
    canvas.style.height = from.style.height;
    WS.mesh.drawScene(canvas.getContext('2d', { alpha: false }), canvas, plate, scene, version);
    const { k, ox, oy } = WS.mesh;
    window.MESH.beside = { run: scene.run, step: scene.step, metric: scene.metric.id, k, ox, oy };
  };
})();
