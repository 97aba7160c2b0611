/* Puts the parts together: starts when Dash has drawn the page, applies each state of the server. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const SPEEDS = [1, 2, 4, 8, 15, 30];
  const AHEAD_MS = 40; // pause after a map before its neighbours are fetched
  let speed = 2;
  let playing = false;
  let poll = null;
  let aheadTimer = null;
  let momentTimer = null;
  let againTimer = null;
  let momentAt = 0;
  let momentOf = '';
  let valuesOf = '';
  let lastMessage = '';

  /* Show a state of the server: everything on the page follows from it. */
  WS.apply = async function (state) {
    const before = WS.state;
    if (before && before.born === state.born && state.status.revision < before.status.revision) return;
    if (before && before.born > state.born) return;
    WS.state = state;
    if (!state.compared && WS.differenceMode() !== 'off') WS.setDifference('off');
    if (!state.compared) WS.setBeside(false);
    if (before && before.born !== state.born && state.news.is_fresh) comeBack();
    if (state.error) WS.toast(state.error, 'alert');
    else announce(state.status);
    WS.showKnobs(state);
    WS.showSteps(state);
    WS.showTurn(state.streaming);
    watchJob(state.status.job);
    if (!WS.facts || WS.facts.run !== state.status.run_id) {
      const facts = await WS.factsOf(state.status.run_id);
      if (!facts) askAgain();
      if (!facts || facts.run !== WS.state.status.run_id) return;
      if (facts !== WS.facts) showRun(facts);
      if (WS.state !== state) return; // a newer state came meanwhile; it shows itself
    }
    followValues(state.status);
    follow(state.cursor.viewport);
    WS.time.draw();
    moment();
    if (state.status.job) WS.showPage();
    WS.markKernel();
    WS.painted = WS.mesh.show(WS.state, WS.facts);
    const outcome = await WS.painted;
    if (outcome === 'missing') askAgain();
    if (outcome === 'painted') {
      if (!WS.isOffline() && !WS.isOpening()) WS.cover('');
      WS.hoverAgain();
      fetchAround(state);
    }
  };

  function showRun(facts) {
    WS.facts = facts;
    WS.time.show(facts.timeline);
    WS.showSteps(WS.state);
    signal('run-signal');
  }

  /* The server freed this tab's session while it was idle: its view is brought back. */
  function comeBack() {
    WS.toast('This tab was idle, so the server freed its runs; the view is back, its knobs are not.');
    const wanted = WS.readHash();
    setTimeout(() => WS.restore(wanted));
  }

  /* Fetch the frames that a key may lead to: at once while playing, else when no key followed,
     one after the other, so that the next command finds the server free. */
  function fetchAround(state) {
    clearTimeout(aheadTimer);
    const fetchOne = async (steps) => {
      if (!steps.length || WS.state !== state) return;
      await WS.frame(state.status.run_id, state.cursor.metric, steps[0]);
      fetchOne(steps.slice(1));
    };
    if (playing) fetchOne(state.around.slice(0, 1));
    else aheadTimer = setTimeout(fetchOne, AHEAD_MS, state.around);
  }

  /* Something was not there, such as a frame of a run just replaced: ask how things stand. */
  function askAgain() {
    clearTimeout(againTimer);
    againTimer = setTimeout(WS.refresh, 1000);
  }

  function announce(status) {
    if (status.message && status.message !== lastMessage) WS.toast(status.message);
    lastMessage = status.message;
  }

  /* Have the values' panel drawn again when another run is shown or its values are there. */
  function followValues(status) {
    const now = `${status.run_id}/${status.values}`;
    if (now === valuesOf) return;
    valuesOf = now;
    signal('values-signal');
  }

  function follow(viewport) {
    const box = [viewport.row, viewport.col, viewport.rows, viewport.cols];
    const { mesh } = WS;
    if (WS.boxesOut || (mesh.box && box.join() === mesh.box.join())) return;
    mesh.showBox(box);
  }

  function signal(id) {
    const { status, cursor } = WS.state;
    window.dash_clientside.set_props(id, { data: {
      session: WS.session, run: status.run_id, revision: status.revision, step: cursor.step,
      theme: document.documentElement.dataset.theme,
    } });
  }

  /* Have the panels of the moment drawn again, at most eight times a second, two while playing. */
  function moment() {
    const { run_id: run, revision } = WS.state.status;
    if (momentOf === `${run}/${revision}`) return;
    momentOf = `${run}/${revision}`;
    clearTimeout(momentTimer);
    const rest = Math.max(0, momentAt + (playing ? 500 : 125) - performance.now());
    momentTimer = setTimeout(() => {
      momentAt = performance.now();
      WS.showMoment();
      WS.showPage();
      WS.writeHash();
    }, rest);
  }

  function watchJob(job) {
    const running = Boolean(job && job.state === 'running');
    if (running && !poll) poll = setInterval(WS.refresh, 200);
    if (!running && poll) { clearInterval(poll); poll = null; }
  }

  /* Mark the selected kernel in the table. */
  WS.markKernel = function () {
    const name = WS.state.cursor.selection.kernel;
    document.querySelectorAll('tr[data-kernel]').forEach((row) => {
      row.setAttribute('aria-selected', row.dataset.kernel === name ? 'true' : 'false');
    });
  };

  WS.togglePlay = function () {
    playing = !playing;
    WS.showPlay(playing, SPEEDS[speed]);
    if (playing) play();
  };

  WS.changeSpeed = function (way) {
    speed = Math.min(SPEEDS.length - 1, Math.max(0, speed + way));
    WS.showPlay(playing, SPEEDS[speed]);
    WS.toast(`${SPEEDS[speed]} steps a second`);
  };

  async function play() {
    while (playing) {
      const began = performance.now();
      const step = WS.state.cursor.step;
      const state = await WS.act('next');
      if (!state || state.cursor.step === step) break;
      await WS.painted;
      const rest = 1000 / SPEEDS[speed] - (performance.now() - began);
      await new Promise((resolve) => { setTimeout(resolve, Math.max(0, rest)); });
    }
    playing = false;
    WS.showPlay(false, SPEEDS[speed]);
  }

  WS.switchTheme = function () {
    const root = document.documentElement.dataset;
    setTheme(root.theme === 'dark' ? 'light' : 'dark');
    try { localStorage.setItem('waferscope-theme', root.theme); } catch (error) { root.kept = 'no'; }
  };

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    if (!WS.state) return;
    WS.mesh.redraw();
    WS.time.draw();
    WS.showMoment();
  }

  async function start() {
    WS.openSession();
    WS.mesh.start();
    WS.time.start();
    WS.startPointer();
    WS.startSteps();
    WS.startPages();
    WS.startTable();
    WS.startLibrary();
    while (!WS.tables) {
      WS.tables = await WS.getJSON(`/api/tables/${WS.epoch}`);
      if (!WS.tables) await new Promise((resolve) => { setTimeout(resolve, 500); });
    }
    WS.startKeys();
    matchMedia('(prefers-color-scheme: light)').addEventListener('change', (event) => {
      if (!localStorage.getItem('waferscope-theme')) setTheme(event.matches ? 'light' : 'dark');
    });
    WS.showPlay(false, SPEEDS[speed]);
    const wanted = WS.readHash();
    await WS.refresh();
    await WS.restore(wanted);
    WS.startNews();
  }

  function whenDrawn() {
    const ready = document.readyState === 'complete' && WS.$('mesh') && window.dash_clientside && window.dash_clientside.set_props;
    if (ready) start();
    else setTimeout(whenDrawn, 20); // not by frames: a tab in the background has none
  }
  window.addEventListener('load', whenDrawn);
})();
