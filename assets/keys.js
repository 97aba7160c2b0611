/* Keys and clicks to commands. The table of commands comes from the server; what the screen does
   itself (play, help, dialogs, tabs) is here. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const NAMES = { ' ': 'space', Escape: 'escape', ArrowLeft: 'left', ArrowRight: 'right',
    ArrowUp: 'up', ArrowDown: 'down', Home: 'home', End: 'end' };
  const VIEW = ['zoom-in', 'zoom-out', 'fit', 'focus', 'pan'];
  const keymap = new Map();

  const face = {
    play: () => WS.togglePlay(),
    slower: () => WS.changeSpeed(-1),
    faster: () => WS.changeSpeed(1),
    idle: () => WS.showTab('idle'),
    report: () => WS.showTab('report'),
    breaks: () => WS.showTab('breaks'),
    'hot-links': () => WS.showTab('hot'),
    why: () => WS.showTab('why'),
    advice: () => WS.showTab('advice'),
    memory: () => WS.showTab('memory'),
    activations: () => WS.showTab('activations'),
    turn: () => WS.showTab('turn'),
    roofline: () => WS.showTab('roofline'),
    graph: () => WS.showTab('graph'),
    fold: (args) => fold('fold', args),
    reveal: () => fold('reveal', []),
    bottleneck: () => WS.showTab('overview'),
    compare: (args) => compare(args),
    difference: (args) => WS.setDifference(args[0]),
    'difference-off': () => WS.setDifference('off'),
    beside: () => WS.setBeside(!WS.isBeside()),
    tensors: () => WS.showTab('values'),
    help: () => WS.openHelp(),
    'ask-search': () => WS.askSearch(),
    'ask-goto': () => WS.askGoto(),
    'ask-export': () => WS.askExport(),
    command: () => WS.askCommand(),
    library: () => WS.openLibrary(),
    'cancel-open': () => WS.cancelOpening(),
    theme: () => WS.switchTheme(),
    widen: () => WS.widen(),
    curve: () => WS.time.nextCurve(),
    'curve-top': () => WS.time.toTop(),
    'copy-panel': () => WS.copyPanel(),
    'kernels-csv': () => WS.saveKernels(),
    export: (args) => WS.download(String(args[0] || 'png').split('.').pop()),
    quit: () => WS.toast('Close this tab to leave; Ctrl-C in the terminal ends the server.'),
  };

  /* Compare and show the difference; a recording is opened first, its map is a click away. */
  async function compare(args) {
    WS.showTab('compare');
    const state = await WS.act('compare', ...args);
    if (state && !state.error && !args.length) WS.setDifference('run');
    return state;
  }

  /* Open or close scopes of the graph; its panel is drawn again though nothing else moved. */
  async function fold(id, args) {
    const state = await WS.act(id, ...args);
    WS.folded();
    await WS.showPage();
    return state;
  }

  /* Run a command of the table, wherever it is done. */
  WS.run = function (id, args) {
    if (face[id]) return face[id](args || []);
    if (VIEW.includes(id)) return WS.flushBox().then(() => WS.act(id, ...(args || [])));
    return WS.act(id, ...(args || []));
  };

  WS.startKeys = function () {
    WS.tables.commands.forEach((command) =>
      command.keys.forEach((key) => keymap.set(key, command.id)));
    document.addEventListener('keydown', onKey);
    document.addEventListener('click', onClick);
    document.querySelectorAll('dialog').forEach((box) => box.addEventListener('click', (event) => {
      if (event.target === box) box.close();
    }));
  };

  /* A key right after Escape still has the closed dialog's field as its target. */
  function typing(target, key) {
    if (target.closest('dialog:not([open])')) return false;
    if (target.matches('input:not([type=range]), textarea, select, [contenteditable]')) return true;
    if (target.matches('input[type=range]')) return key.startsWith('Arrow') || key === 'Home' || key === 'End';
    return target.matches('button, summary, a') && (key === ' ' || key === 'Enter');
  }

  function onKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === 'k' && !WS.dialogOpen()) {
      event.preventDefault();
      WS.askCommand();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (WS.dialogOpen() || typing(event.target, event.key)) return;
    if (event.target.matches('[role=tabpanel], pre') && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    const id = keymap.get(NAMES[event.key] || event.key);
    if (!id) return;
    event.preventDefault();
    WS.run(id, []);
  }

  function onClick(event) {
    const close = event.target.closest('[data-close]');
    if (close) return close.closest('dialog').close();
    const tab = event.target.closest('[data-tab]');
    if (tab) {
      if (event.detail > 0) tab.blur();
      return WS.showTab(tab.dataset.tab);
    }
    const button = event.target.closest('[data-do]');
    if (!button) return undefined;
    if (event.detail > 0) button.blur();
    return press(button);
  }

  async function press(button) {
    const { do: id, then } = button.dataset;
    await WS.run(id, WS.argumentsOf(button));
    for (const next of (then || '').split(' ').filter(Boolean)) await WS.run(next, []);
  }

  /* Give the panels half of the window, or take it back. */
  WS.widen = function () {
    const wide = WS.$('page').classList.toggle('wide');
    WS.$('widen').setAttribute('aria-pressed', wide ? 'true' : 'false');
  };

  WS.showTab = function (name) {
    document.querySelectorAll('[data-tab]').forEach((tab) => {
      const chosen = tab.dataset.tab === name;
      tab.setAttribute('aria-selected', chosen ? 'true' : 'false');
      WS.$(`panel-${tab.dataset.tab}`).hidden = !chosen;
    });
    WS.showPage();
  };
})();
