/* The panels that are asked for only while their tab is open, and the lines they hold to type into. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const OF_THE_RUN = ['overview', 'hot', 'advice', 'kernels', 'activations']; // the same in every step of a run
  const OF_THE_SELECTION = ['memory', 'roofline']; // the same in every step, not for every kernel
  let shown = '';
  let folds = 0; // grows whenever a scope of the graph opens or closes
  let asked = 0;

  const openTab = () => document.querySelector('[data-tab][aria-selected=true]').dataset.tab;

  /* Return what a panel's content depends on. */
  function keyOf(name) {
    const { status } = WS.state;
    const job = status.job ? `${status.job.id}/${status.job.state}/${status.job.done}/${status.job.stage}` : '';
    const { kernel } = WS.state.cursor.selection;
    if (name === 'graph') return `${name}/${status.run_id}/${kernel}/${folds}`;
    if (OF_THE_SELECTION.includes(name)) return `${name}/${status.run_id}/${kernel}`;
    return OF_THE_RUN.includes(name) ? `${name}/${status.run_id}/${job}`
      : `${name}/${status.run_id}/${status.revision}`;
  }

  /* Have the graph drawn again: its scopes changed. */
  WS.folded = function () { folds += 1; };

  /* Bring the selected box of the graph, else its first, into sight. */
  function showChosen(place) {
    const box = place.querySelector('.node.chosen') || place.querySelector('.node');
    const frame = place.querySelector('.graph');
    if (!box) return;
    frame.scrollTo(box.offsetLeft + box.offsetWidth / 2 - frame.clientWidth / 2,
      box.classList.contains('chosen') ? box.offsetTop - frame.clientHeight / 2 : 0);
  }

  /* Bring the open panel up to date when it is one of these. */
  WS.showPage = async function () {
    const name = openTab();
    const place = WS.$(`fill-${name}`);
    if (!place || !WS.state) return;
    const key = keyOf(name);
    if (key === shown) return;
    shown = key;
    asked += 1;
    const mine = asked;
    const children = await WS.getJSON(`/api/page/${WS.session}/${name}`);
    if (mine !== asked) return;
    if (children) WS.fill(place, children);
    else shown = '';
    if (name === 'graph') showChosen(place);
    if (name === 'kernels') WS.kernelsCame();
    WS.markKernel();
  };

  /* Build the lines; Enter in one presses the first button that reads it. */
  WS.startPages = function () {
    document.querySelectorAll('[data-line]').forEach((place) => {
      const input = WS.make('input', { id: place.dataset.line, type: 'text', autocomplete: 'off',
        spellcheck: 'false', placeholder: place.dataset.hint, 'aria-label': place.dataset.name });
      input.addEventListener('keydown', (event) => {
        if (event.key === 'Escape') input.blur();
        const button = document.querySelector(`[data-from=${place.dataset.line}]`);
        if (event.key !== 'Enter' || !button) return;
        event.preventDefault();
        button.click();
      });
      place.replaceChildren(input);
    });
  };

  /* Return the arguments that a button gives its command. */
  WS.argumentsOf = function (button) {
    const { arg, args, from } = button.dataset;
    if (from !== undefined) {
      const text = WS.$(from).value.trim();
      return text ? [text] : [];
    }
    if (arg !== undefined) return [arg];
    return args ? args.split(' ') : [];
  };
})();
