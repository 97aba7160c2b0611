/* The run along time: a curve above, one lane a kernel below; click or drag seeks, shift-drag zooms
   into a span, wheel zooms, double click shows the whole run. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const time = (WS.time = {});
  const GUTTER = 112;
  const CURVE = 44;
  let canvas = null;
  let ctx = null;
  let view = null;
  let shown = [];
  let places = new Map();
  let dragging = false;
  let brush = null; // {from, to} in cycles while a span is drawn
  let chosen = 0; // which of the view's curves
  let timer = null;

  time.start = function () {
    canvas = WS.$('time');
    ctx = canvas.getContext('2d', { alpha: false });
    new ResizeObserver(time.draw).observe(canvas.parentElement);
    canvas.addEventListener('pointerdown', onDown);
    canvas.addEventListener('pointermove', onMove);
    canvas.addEventListener('pointerup', onUp);
    canvas.addEventListener('pointerleave', () => { WS.$('time-hover').hidden = true; });
    canvas.addEventListener('dblclick', () => load(0, view ? view.makespan : 1));
    canvas.addEventListener('wheel', onWheel, { passive: false });
  };

  function onDown(event) {
    if (!view) return;
    canvas.setPointerCapture(event.pointerId);
    if (event.shiftKey) {
      brush = { from: cycleAt(event), to: cycleAt(event) };
      return;
    }
    dragging = true;
    seek(event);
  }

  function onMove(event) {
    if (brush) {
      brush.to = cycleAt(event);
      time.draw();
    } else if (dragging) seek(event);
    else hover(event);
  }

  function onUp() {
    dragging = false;
    if (!brush) return;
    const [start, end] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to) + 1];
    brush = null;
    if (end - start >= 8) load(start, end);
    else time.draw();
  }

  /* Show the next curve: utilization, traffic, live SRAM. */
  time.nextCurve = function () {
    if (!view) return;
    chosen = (chosen + 1) % view.series.length;
    time.draw();
  };

  /* Go to the step where the curve is highest. */
  time.toTop = () => view && WS.act('seek', view.series[chosen].top_step);

  time.show = function (timeline) {
    view = timeline;
    // Only lanes with something in the cycles shown, so that zooming in makes room for names.
    shown = [...new Set(view.bars.map((bar) => bar.lane))].sort((a, b) => a - b);
    places = new Map(shown.map((lane, place) => [lane, place]));
    time.draw();
  };

  async function load(start, end) {
    const run = WS.state.status.run_id;
    const found = await WS.getJSON(`/api/timeline/${WS.session}/${run}/${start}/${end}/800`);
    if (found && run === WS.state.status.run_id) time.show(found);
  }

  function onWheel(event) {
    event.preventDefault();
    if (!view) return;
    const at = cycleAt(event);
    const span = Math.max(16, (view.end - view.start) * Math.exp(event.deltaY * 0.002));
    const share = (at - view.start) / (view.end - view.start);
    const start = Math.max(0, Math.round(at - share * span));
    const end = Math.min(view.makespan, Math.max(start + 8, Math.round(start + span)));
    clearTimeout(timer);
    view = { ...view, start, end, stale: true };
    time.draw();
    timer = setTimeout(() => load(start, end), 120);
  }

  const width = () => canvas.clientWidth - GUTTER - 8;
  const xOf = (cycle) => GUTTER + ((cycle - view.start) / (view.end - view.start)) * width();

  function cycleAt(event) {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    const share = Math.min(1, Math.max(0, (x - GUTTER) / width()));
    return Math.min(view.makespan - 1, Math.floor(view.start + share * (view.end - view.start)));
  }

  function seek(event) {
    if (view) WS.act('cycle', cycleAt(event));
  }

  function laneHeight() {
    return Math.min(26, (canvas.clientHeight - CURVE - 8) / Math.max(1, shown.length));
  }

  function hover(event) {
    if (!view) return;
    const rect = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - rect.left, event.clientY - rect.top];
    const cycle = cycleAt(event);
    const lane = shown[Math.floor((y - CURVE - 4) / laneHeight())];
    const box = WS.$('time-hover');
    let text = `cycle ${cycle.toLocaleString('en')}`;
    if (y > CURVE + 4 && lane !== undefined) {
      const bar = view.bars.find((b) => b.lane === lane && b.start <= cycle && cycle < b.end);
      text = bar ? `${view.lanes[lane]}, sample ${bar.sample}: cycles ` +
        `${bar.start.toLocaleString('en')} to ${bar.end.toLocaleString('en')}`
        : `${view.lanes[lane]} waits; ${text}`;
    } else if (!view.stale) {
      const series = view.series[chosen];
      const bin = Math.floor(((cycle - view.start) / (view.end - view.start)) * series.mean.length);
      text = `${text}: ${series.name} ${written(series, series.mean[bin] || 0)}`;
    }
    box.textContent = text;
    box.hidden = false;
    box.style.left = `${Math.min(x + 12, rect.width - box.offsetWidth - 6)}px`;
    box.style.top = `${Math.max(0, y - box.offsetHeight - 6)}px`;
  }

  /* Return a value of a curve with its unit. */
  function written(series, value) {
    if (series.kind === 'fraction') return `${(100 * value).toFixed(1)} %`;
    if (series.kind === 'bytes') return `${Math.round(value / 1024).toLocaleString('en')} KB on all PEs`;
    return `${value >= 10 ? Math.round(value).toLocaleString('en') : WS.rate(value)} ${series.unit}`;
  }

  time.draw = function () {
    if (!view || !canvas) return;
    const ratio = window.devicePixelRatio || 1;
    const rect = canvas.parentElement.getBoundingClientRect();
    const [wide, high] = [Math.round(rect.width * ratio), Math.round(rect.height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
      canvas.style.width = `${rect.width}px`;
      canvas.style.height = `${rect.height}px`;
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = WS.css('--panel');
    ctx.fillRect(0, 0, rect.width, rect.height);
    curve(rect);
    lanes();
    now(rect);
  };

  function curve(rect) {
    const series = view.series[chosen];
    const high = Math.max(series.top, 1e-9);
    const yOf = (value) => 4 + (CURVE - 8) * (1 - Math.min(1, value / high));
    const step = width() / series.mean.length;
    WS.$('curve').textContent = series.name;
    WS.$('curve-top').textContent = `top ${series.top_text}`;
    WS.$('curve-top').title = `Go to its highest step: ${series.top_text}, in step ${series.top_step}`;
    ctx.fillStyle = WS.css('--well');
    ctx.fillRect(GUTTER, 2, width(), CURVE - 4);
    if (view.stale) return;
    ctx.beginPath();
    ctx.moveTo(GUTTER, yOf(0));
    series.mean.forEach((value, bin) => {
      ctx.lineTo(GUTTER + bin * step, yOf(value));
      ctx.lineTo(GUTTER + (bin + 1) * step, yOf(value));
    });
    ctx.lineTo(GUTTER + width(), yOf(0));
    ctx.fillStyle = WS.css('--curve');
    ctx.fill();
    ctx.beginPath(); // the highest step of each bin, where it stands out of the mean
    series.peak.forEach((value, bin) => {
      ctx.moveTo(GUTTER + bin * step, yOf(value));
      ctx.lineTo(GUTTER + (bin + 1) * step, yOf(value));
    });
    ctx.strokeStyle = WS.css('--bar');
    ctx.stroke();
    ctx.strokeStyle = WS.css('--grid');
    ctx.strokeRect(GUTTER + 0.5, 2.5, width() - 1, CURVE - 5);
  }

  function lanes() {
    const height = laneHeight();
    const chosen = WS.state ? WS.state.cursor.selection.kernel : null;
    const sample = WS.state ? WS.state.cursor.sample : 0;
    const every = Math.ceil(11 / height);
    const mine = shown.indexOf(view.lanes.indexOf(chosen));
    shown.forEach((lane, place) => {
      const near = mine >= 0 && place !== mine && Math.abs(place - mine) < every;
      const name = view.lanes[lane];
      const y = CURVE + 4 + place * height;
      if (name === chosen) {
        ctx.fillStyle = WS.css('--well');
        ctx.fillRect(0, y, canvas.clientWidth, height);
      }
      if (name === chosen || (place % every === 0 && !near)) laneName(name, y, height, name === chosen);
    });
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, CURVE, width(), canvas.clientHeight - CURVE);
    ctx.clip();
    const gap = height > 4 ? 1 : 0;
    for (const bar of view.bars) {
      const left = xOf(bar.start);
      const y = CURVE + 4 + places.get(bar.lane) * height;
      ctx.fillStyle = WS.css(bar.sample === sample ? '--bar' : '--bar-dim');
      ctx.fillRect(left, y + gap, Math.max(1, xOf(bar.end) - left - 0.5), height - 2 * gap);
    }
    ctx.restore();
  }

  function laneName(name, y, height, strong) {
    ctx.font = `${strong ? '600 ' : ''}${Math.min(11, Math.max(10, height - 1))}px ${WS.css('--font')}`;
    ctx.fillStyle = WS.css(strong ? '--text' : '--muted');
    let text = name;
    while (text.length > 3 && ctx.measureText(text).width > GUTTER - 14) text = text.slice(0, -2);
    ctx.fillText(text === name ? name : `${text.slice(0, -1)}\u2026`, 8,
      Math.min(y + height / 2 + 3.5, canvas.clientHeight - 4));
  }

  function now(rect) {
    if (!WS.state) return;
    if (brush) {
      const [a, b] = [xOf(brush.from), xOf(brush.to)];
      ctx.fillStyle = WS.css('--now-fill');
      ctx.fillRect(Math.min(a, b), 0, Math.abs(b - a), rect.height);
    }
    const { cycle_start: start, cycle_end: end } = WS.state.status;
    const left = xOf(start);
    const right = xOf(end);
    if (right < GUTTER || left > GUTTER + width()) return;
    const x0 = Math.max(GUTTER, left);
    ctx.fillStyle = WS.css('--now-fill');
    ctx.fillRect(x0, 0, Math.max(1, Math.min(right, GUTTER + width()) - x0), rect.height);
    ctx.fillStyle = WS.css('--now');
    ctx.fillRect(x0 - 0.5, 0, 1.5, rect.height);
  }
})();
