/* Knobs, the work in the background, and what the last change did. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const make = (...args) => WS.make(...args);
  const fields = new Map();

  WS.showKnobs = function (state) {
    const { knobs, status, cursor } = state;
    if (!fields.size) build(knobs);
    knobs.rows.forEach((row) => fill(row, cursor.selection.kernel));
    WS.$('undo').disabled = !knobs.can_undo;
    WS.$('redo').disabled = !knobs.can_redo;
    showJob(status.job);
    showDelta(status.delta);
  };

  function build(knobs) {
    const form = make('div', { class: 'form' });
    knobs.rows.forEach((row) => {
      const field = row.choices.length ? make('select', {}) : make('input', {
        type: 'text', inputmode: row.type === 'text' ? 'text' : 'decimal', autocomplete: 'off', spellcheck: 'false' });
      field.id = `knob-${row.name}`;
      field.addEventListener('change', () => {
        WS.act('set', row.name, field.value.trim());
        if (row.choices.length) field.blur();
      });
      field.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' || event.key === 'Escape') field.blur();
      });
      const range = row.choices.length ? '' : row.range;
      const name = make('label', { for: field.id,
        title: `${row.help}${range ? ` (${range})` : ''}; makes anew from: ${row.stage}` });
      name.append(row.label, make('small', {}, row.unit && row.unit !== row.label ? row.unit : ''));
      form.append(name, field);
      fields.set(row.name, { field, name });
    });
    const buttons = make('div', { class: 'row' },
      make('button', { id: 'undo', class: 'small', 'data-do': 'undo',
        title: 'The run before the last knob (u)' }, 'Undo'),
      make('button', { id: 'redo', class: 'small', 'data-do': 'redo',
        title: 'The run after it (U)' }, 'Redo'));
    WS.$('knobs').replaceChildren(form, buttons);
  }

  function fill(row, kernel) {
    const { field, name } = fields.get(row.name);
    if (row.choices.length && ![...field.options].some((option) => option.value === row.value)) {
      const values = row.choices.includes(row.value) ? row.choices : [row.value, ...row.choices];
      field.replaceChildren(...values.map((value) => make('option', { value }, value)));
    }
    if (document.activeElement !== field) field.value = row.value;
    field.classList.toggle('changed', row.changed);
    if (!row.per_kernel) return;
    field.disabled = !kernel;
    if (!kernel) field.value = '';
    field.placeholder = kernel ? '' : 'select a kernel';
    name.lastElementChild.textContent = kernel ? `${row.unit} of ${kernel}` : row.unit;
  }

  function showJob(job) {
    const place = WS.$('job');
    if (!job || job.state === 'done' || job.state === 'cancelled') {
      place.replaceChildren();
      return;
    }
    if (job.state === 'failed') {
      place.replaceChildren(make('p', { class: 'alert', role: 'alert' }, `${job.what}: ${job.message}`));
      return;
    }
    place.replaceChildren(...WS.jobLines(job, 'cancel'));
  }

  /* Return how far a piece of work is, and a button that stops it with a command. */
  WS.jobLines = function (job, cancel) {
    const known = job.total > 0;
    const done = known ? { value: job.done / job.total } : {};
    return [
      make('p', {}, `${job.what}: ${job.stage}${known ? `, ${job.done} of ${job.total} ${job.unit}` : ''}`),
      make('div', { class: 'row' }, make('progress', { max: 1, 'aria-label': job.what, ...done }),
        make('button', { class: 'small', 'data-do': cancel, title: 'Stop this' }, 'Cancel')),
    ];
  };

  function number(value, unit) {
    if (unit === 'fraction') return `${(100 * value).toFixed(2)} %`;
    if (unit === 'bytes') return `${(value / 1024).toFixed(1)} KB`;
    return value.toLocaleString('en', { maximumFractionDigits: 2 });
  }

  let shown = '';
  function showDelta(delta) {
    const text = JSON.stringify(delta);
    if (text === shown) return;
    shown = text;
    if (!delta) {
      WS.$('delta').replaceChildren();
      return;
    }
    const rows = delta.rows.map((row) => make('li', {},
      make('span', { title: row.unit }, row.name),
      make('b', {}, row.old === row.new ? 'same'
        : row.percent === null ? '' : `${row.percent > 0 ? '+' : ''}${row.percent.toFixed(1)} %`),
      make('span', { class: 'muted' },
        `${number(row.old, row.unit)} \u2192 ${number(row.new, row.unit)}`)));
    WS.$('delta').replaceChildren(make('h3', {}, delta.change), make('ul', { class: 'delta' }, ...rows));
  }
})();
