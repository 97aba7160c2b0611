/* The plate over the map of a streaming run: whose turn it is, its phases, what arrives and leaves.
   The server says all of it; here it is only set. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const MOST = 3; // rows of arrivals shown, and of what leaves: the next to be complete first

  const LEAST = 140; // CSS pixels beside the map in which the plate can be read
  const SLIM = 300; // below this its meters stand above their lines
  const WIDEST = 560;
  const EDGE = 20;

  const phaseItem = (phase) => WS.make('li', { class: phase.state }, phase.brief);

  function movingItem(row) {
    const meter = WS.make('div', { class: 'meter' },
      WS.make('div', { style: `width:${(100 * row.share).toFixed(1)}%` }));
    return WS.make('li', {}, meter, row.sentence);
  }

  /* Keep the plate beside the map where there is room for it: `free` CSS pixels east of the mesh. */
  WS.keepTurnAside = function (free) {
    const room = free - EDGE >= LEAST ? Math.min(WIDEST, free - EDGE) : WIDEST;
    const plate = WS.$('arriving');
    plate.style.maxWidth = `min(${room}px, 100% - ${EDGE}px)`;
    plate.classList.toggle('slim', room < SLIM);
  };

  /* Show a step of a streaming run; null: the run is a pipeline. */
  WS.showTurn = function (streaming) {
    WS.$('arriving').hidden = !streaming;
    if (!streaming) return;
    WS.$('turn-headline').textContent = streaming.headline;
    WS.$('turn-phases').replaceChildren(...streaming.phases.map(phaseItem));
    const rows = [...streaming.arriving.slice(0, MOST), ...streaming.leaving.slice(0, MOST)];
    const quiet = streaming.quiet ? [WS.make('li', { class: 'later' }, streaming.quiet)] : [];
    WS.$('arrivals').replaceChildren(...quiet, ...rows.map(movingItem));
  };
})();
