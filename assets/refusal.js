/* The report of a model or recording that could not be opened, over the run that stays. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});

  function nodes(row) {
    const more = row.count - row.nodes.length;
    return row.nodes.join(', ') + (more ? ` and ${more.toLocaleString('en')} more` : '');
  }

  function cells(tag, texts, numbers) {
    return WS.make('tr', {}, ...texts.map((text, index) => (
      WS.make(tag, { class: numbers.includes(index) && 'number', scope: tag === 'th' && 'col' }, text))));
  }

  function operators(view) {
    const head = ['Operator', 'Nodes', 'Names', 'Why', 'Outputs blocked', 'Use instead'];
    const numbers = [1, 4];
    const rows = view.ops.map((row) => cells('td', [row.op, row.count.toLocaleString('en'), nodes(row),
      row.reason, row.blocked_outputs.toLocaleString('en'), row.rewrite || '\u2013'], numbers));
    const parts = [WS.make('table', {}, WS.make('thead', {}, cells('th', head, numbers)),
      WS.make('tbody', {}, ...rows))];
    if (view.ops_left_off) parts.push(WS.make('p', { class: 'muted' }, `and ${view.ops_left_off} more operators`));
    return parts;
  }

  /* Show why the newest file was not opened. */
  WS.showRefusal = async function (opening) {
    const answer = await WS.getJSON(`/api/refusal/${WS.session}`);
    const view = answer && answer.refusal;
    if (!view) {
      WS.toast(opening.message, 'alert');
      return;
    }
    const copy = WS.make('button', { class: 'small' }, 'Copy as text');
    copy.addEventListener('click', () => WS.copyText('report', view.text));
    const helps = view.helps.map((text) => WS.make('li', {}, text));
    WS.openDialog(`${view.what} was not opened`, 'The run shown before stays.', WS.make('div', { class: 'refusal' },
      WS.make('p', { class: 'alert' }, view.sentence), ...(view.ops.length ? operators(view) : []),
      helps.length ? WS.make('h3', {}, 'What helps') : null,
      helps.length ? WS.make('ul', {}, ...helps) : null, copy));
  };
})();
