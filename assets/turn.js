/* The plate over the map of a streaming run: whose turn it is, its phases, what arrives and leaves.
   The server says all of it; here it is only set. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const MOST = 3; // rows of arrivals shown, and of what leaves: the next to be complete first

  const phaseItem = (phase) => WS.make('li', { class: phase.state }, phase.brief);

  function movingItem(row) {
    const meter = WS.make('div', { class: 'meter' },
      WS.make('div', { style: `width:${(100 * row.share).toFixed(1)}%` }));
    return WS.make('li', {}, meter, row.sentence);
  }

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
