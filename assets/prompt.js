/* Dialogs: help, the line that asks for a place, a search, a command, and the export choice. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});

  WS.dialogOpen = () => Boolean(document.querySelector('dialog[open]'));

  WS.closeDialogs = () => document.querySelectorAll('dialog[open]').forEach((box) => box.close());

  WS.openHelp = function () {
    WS.closeDialogs();
    WS.$('help').showModal();
  };

  WS.openDialog = function (title, help, ...body) {
    WS.closeDialogs();
    WS.$('prompt-title').textContent = title;
    WS.$('prompt-help').textContent = help;
    WS.$('prompt-body').replaceChildren(...body);
    WS.$('prompt').showModal();
    const first = WS.$('prompt-body').querySelector('input, button');
    if (first) first.focus();
  };

  /* Ask for one line; `answer` gets it when Enter is pressed. */
  function ask(title, help, names, answer) {
    const list = WS.make('datalist', { id: 'prompt-names' },
      ...names.map((value) => WS.make('option', { value })));
    const input = WS.make('input', { type: 'text', list: list.id, autocomplete: 'off',
      spellcheck: 'false', 'aria-label': title });
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      WS.closeDialogs();
      if (input.value.trim()) answer(input.value.trim());
    });
    WS.openDialog(title, help, input, list);
  }

  const kernels = () => WS.facts.timeline.lanes;

  WS.askGoto = () => ask('Go to', 'A step (12), a PE (3,4) or the beginning of a kernel\u2019s name. ' +
    'Enter goes there.', kernels(), (text) => WS.act('goto', text));

  WS.askSearch = () => ask('Search', 'Part of the name of a kernel or of a node of the model. ' +
    'Search again for the next one.', kernels(), (text) => WS.act('search', text));

  WS.askExport = function () {
    const kinds = [['png', 'picture'], ['svg', 'drawing'], ['html', 'page'], ['csv', 'table'],
      ['npz', 'NumPy arrays'], ['json', 'view'], ['wscope', 'recording']];
    const buttons = kinds.map(([ending, name]) => {
      const button = WS.make('button', {}, `${ending.toUpperCase()} `, WS.make('small', {}, name));
      button.addEventListener('click', () => { WS.closeDialogs(); WS.download(ending); });
      return button;
    });
    WS.openDialog('Export what is shown', 'The file holds the metric and step on the map; a recording holds ' +
      'the whole run.', WS.make('div', { class: 'choices' }, ...buttons));
  };

  /* Have the browser keep some data as a file. */
  WS.save = function (name, data) {
    const link = WS.make('a', { href: URL.createObjectURL(new Blob([data])), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    WS.toast(`${name} is in your downloads`);
  };

  /* Put a text on the clipboard; where that is not allowed, show it to be copied. */
  WS.copyText = async function (what, text) {
    try {
      await navigator.clipboard.writeText(text);
      WS.toast(`The ${what} is on the clipboard as text`);
    } catch (error) {
      const area = WS.make('textarea', { rows: 16, 'aria-label': `text of the ${what}` });
      area.value = text;
      WS.openDialog(`Text of the ${what}`, 'This browser lets no page write to the clipboard: copy it from here.', area);
      area.select();
    }
  };

  WS.copyPanel = () => WS.copyText('panel',
    document.querySelector('[role=tabpanel]:not([hidden])').innerText.trim());

  WS.download = async function (ending) {
    WS.toast(`Writing the .${ending} file`);
    const answer = await WS.getBytes(`/api/export/${WS.session}/${ending}`);
    if (!answer) return;
    const name = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition'))[1];
    WS.save(name, answer.data);
  };
})();
