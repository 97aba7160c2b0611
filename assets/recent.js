/* The runs that this tab has had: a click or Enter shows one again as it was left, the button beside
   it or the Delete key takes it off the list. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});

  function ago(seconds) {
    if (seconds < 60) return 'just now';
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    return `${Math.floor(seconds / 3600)} h ago`;
  }

  function facts(run) {
    return `${run.machine}, ${run.makespan_cycles.toLocaleString('en')} cycles, ` +
      `opened ${ago(run.opened_seconds_ago)}`;
  }

  async function reopen(run) {
    WS.closeDialogs();
    if (await WS.send(`/api/reopen/${WS.session}/${run.number}`)) await WS.showRun(run.model);
  }

  /* Take a run off the list; the next one gets the focus. */
  async function remove(run) {
    const list = WS.$('recent');
    const place = [...list.children].findIndex((row) => row.dataset.run === String(run.number));
    const answer = await WS.postJSON(`/api/delete/${WS.session}/${run.number}`, {});
    if (!answer) return;
    list.replaceChildren(...answer.runs.map(row));
    list.children[Math.min(place, list.children.length - 1)].querySelector('button').focus();
  }

  function row(run) {
    const name = WS.make('button', { class: 'run', 'aria-current': run.is_shown && 'true' },
      WS.make('b', {}, run.model), WS.make('small', {}, facts(run), run.is_shown ? ', shown now' : ''));
    name.addEventListener('click', () => (run.is_shown ? WS.closeDialogs() : reopen(run)));
    const line = WS.make('li', { 'data-run': run.number }, name);
    if (run.is_shown) return line;
    const away = WS.make('button', { class: 'small', 'aria-label': `Delete ${run.model}, ${facts(run)}`,
      title: 'Take this run off the list and free its memory (Delete)' }, 'Delete');
    away.addEventListener('click', () => remove(run));
    line.addEventListener('keydown', (event) => {
      if (event.key !== 'Delete') return;
      event.preventDefault();
      remove(run);
    });
    line.append(away);
    return line;
  }

  /* Return the list of runs as an element. */
  WS.runList = (runs) => WS.make('section', { 'aria-label': 'runs of this tab' },
    WS.make('h3', {}, 'Runs of this tab'), WS.make('ul', { id: 'recent' }, ...runs.map(row)));
})();
