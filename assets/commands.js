/* The palette: every command by name, key and help, narrowed down while typing. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const MOST = 60; // rows shown

  /* Return how well a command fits what was typed; 0: not at all. */
  function fit(command, words) {
    const text = `${command.usage} ${command.help} ${command.group}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) return 0;
    if (text.includes(words.join(' '))) return command.id.startsWith(words[0] || '') ? 5 : 4;
    return command.id.startsWith(words[0] || '') ? 3 : command.id.includes(words[0] || '') ? 2 : 1;
  }

  function found(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return WS.tables.commands.map((command) => ({ command, score: fit(command, words) }))
      .filter(({ score }) => score).sort((a, b) => b.score - a.score).slice(0, MOST)
      .map(({ command }) => command);
  }

  const needs = (command) => /^\S+ [A-Z]/.test(command.usage);

  /* Ask for a command: arrows choose, Enter runs it, or takes its name when it needs arguments. */
  WS.askCommand = function () {
    let rows = [];
    let chosen = 0;
    const input = WS.make('input', { type: 'text', autocomplete: 'off', spellcheck: 'false',
      role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette', 'aria-label': 'Command' });
    const list = WS.make('ul', { id: 'palette', class: 'palette', role: 'listbox' });
    const run = (text) => {
      const [id, ...args] = text.split(/\s+/);
      WS.closeDialogs();
      WS.run(id, args);
    };
    const take = (command) => {
      if (!needs(command)) { run(command.id); return; }
      input.value = `${command.id} `;
      input.focus();
      show();
    };
    const mark = (to) => {
      chosen = Math.max(0, Math.min(rows.length - 1, to));
      [...list.children].forEach((row, index) => {
        row.setAttribute('aria-selected', index === chosen ? 'true' : 'false');
        if (index === chosen) row.scrollIntoView({ block: 'nearest' });
      });
    };
    const show = () => {
      const [first] = input.value.split(/\s+/);
      const exact = WS.tables.commands.find(({ id }) => id === first && input.value.includes(' '));
      rows = exact ? [exact] : found(input.value);
      list.replaceChildren(...rows.map((command) => {
        const row = WS.make('li', { role: 'option' }, WS.make('code', {}, command.usage),
          WS.make('span', { class: 'muted' }, command.help),
          ...command.keys.slice(0, 1).map((key) => WS.make('kbd', {}, key)));
        row.addEventListener('click', () => take(command));
        return row;
      }));
      mark(0);
    };
    input.addEventListener('input', show);
    input.addEventListener('keydown', (event) => {
      const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (way) { event.preventDefault(); mark(chosen + way); }
      if (event.key !== 'Enter') return;
      event.preventDefault();
      const text = input.value.trim();
      const named = WS.tables.commands.some(({ id }) => id === text.split(/\s+/)[0]);
      if (text && (named || !rows.length)) run(text);
      else if (rows.length) take(rows[chosen]);
    });
    WS.openDialog('Command', 'Type part of a name or of what it does; arrows choose, Enter runs.',
      input, list);
    show();
  };
})();
