/* The table of kernels: a heading sorts, the line above filters, a button writes what is shown. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const COMPARES = { '>': (a, b) => a > b, '<': (a, b) => a < b, '>=': (a, b) => a >= b,
    '<=': (a, b) => a <= b, '=': (a, b) => a === b };
  const UNITS = { '': 1, '%': 0.01, kb: 1024, k: 1e3, m: 1e6 };
  let column = -1; // -1: in program order
  let way = 1;
  let order = []; // rows as they came

  const table = () => WS.$('kernel-table');
  const headings = () => [...table().tHead.rows[0].cells];
  const raw = (row, at) => row.cells[at].dataset.value;
  const names = () => headings().map((cell) => cell.textContent);

  function before(a, b) {
    const [x, y] = [raw(a, column), raw(b, column)];
    return way * (column === 0 ? x.localeCompare(y, 'en', { numeric: true }) : Number(x) - Number(y));
  }

  /* Return a test of a row for one word such as 'conv', 'cycles>1000' or 'utilization<20%'. */
  function testOf(word) {
    const [, name, sign, number, unit] = /^([\w/]+)(>=|<=|>|<|=)([\d.]+)(%|kb|k|m)?$/i.exec(word) || [];
    const at = name ? names().findIndex((text) => text.toLowerCase().startsWith(name.toLowerCase())) : -1;
    if (at > 0) {
      const limit = Number(number) * UNITS[(unit || '').toLowerCase()];
      return (row) => COMPARES[sign](Number(raw(row, at)), limit);
    }
    return (row) => `${row.dataset.kernel} ${row.dataset.kind} ${row.dataset.nodes}`
      .toLowerCase().includes(word.toLowerCase());
  }

  /* Show the rows that the line asks for, in the order asked for. */
  function arrange() {
    if (!table()) return;
    const tests = WS.$('kernel-filter').value.replace(/\s*([<>]=?|=)\s*/g, '$1')
      .split(/\s+/).filter(Boolean).map(testOf);
    const rows = column < 0 ? order : [...order].sort(before);
    rows.forEach((row) => { row.hidden = !tests.every((test) => test(row)); });
    table().tBodies[0].append(...rows);
    headings().forEach((cell, at) => {
      const sorted = { 1: 'ascending', [-1]: 'descending' }[way];
      cell.setAttribute('aria-sort', at === column ? sorted : 'none');
    });
    const shown = rows.filter((row) => !row.hidden).length;
    WS.$('kernel-count').textContent = `${shown.toLocaleString('en')} of ${order.length.toLocaleString('en')}`;
  }

  function sortBy(at) {
    if (column !== at) [column, way] = [at, at === 0 ? 1 : -1];
    else if (way === (at === 0 ? 1 : -1)) way = -way;
    else column = -1;
    arrange();
  }

  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

  /* Return the rows shown as CSV, numbers as they are. */
  WS.kernelsAsCsv = function () {
    const rows = [...table().tBodies[0].rows].filter((row) => !row.hidden);
    const lines = rows.map((row) => [row.dataset.kernel, row.dataset.kind,
      ...[...row.cells].slice(1).map((cell) => cell.dataset.value)]);
    const [first, ...others] = names();
    return [[first, 'kind', ...others], ...lines].map((line) => line.map(quoted).join(',')).join('\n');
  };

  /* Take new rows over, as the server gave them. */
  WS.kernelsCame = function () {
    if (!table()) return;
    order = [...table().tBodies[0].rows];
    arrange();
  };

  WS.startTable = function () {
    WS.$('kernel-filter').addEventListener('input', arrange);
    document.addEventListener('click', (event) => {
      const heading = event.target.closest('[data-sort]');
      if (heading) sortBy(Number(heading.dataset.sort));
    });
  };

  WS.saveKernels = () => WS.save(`${WS.state.status.model}-kernels.csv`, WS.kernelsAsCsv());
})();
