/* What lies over the map: hatch of unused PEs, kernel outlines with names, the selection. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  let styles = {};
  let theme = '';

  /* Return a colour of the style sheet, read once a theme. */
  WS.css = function (name) {
    const now = document.documentElement.dataset.theme;
    if (now !== theme) { theme = now; styles = {}; }
    if (!styles[name]) {
      styles[name] = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }
    return styles[name];
  };

  WS.hatch = function (ctx, x, y, width, height) {
    const left = Math.max(0, x);
    const top = Math.max(0, y);
    const right = Math.min(ctx.canvas.width, x + width);
    const bottom = Math.min(ctx.canvas.height, y + height);
    if (right <= left || bottom <= top) return;
    ctx.fillStyle = WS.css('--mesh');
    ctx.fillRect(left, top, right - left, bottom - top);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, right - left, bottom - top);
    ctx.clip();
    ctx.beginPath();
    const pitch = 9;
    for (let at = left - (bottom - top); at < right; at += pitch) {
      ctx.moveTo(at, bottom);
      ctx.lineTo(at + (bottom - top), top);
    }
    ctx.strokeStyle = WS.css('--hatch');
    ctx.lineWidth = 1;
    ctx.stroke();
    ctx.restore();
    ctx.strokeStyle = WS.css('--edge');
    ctx.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  };

  function boxOf(mesh, row, col, rows, cols) {
    return [col * mesh.k + mesh.ox, row * mesh.k + mesh.oy, cols * mesh.k, rows * mesh.k];
  }

  /* Draw a region that is not selected; an alert is thick where the region is large enough. */
  function plain(ctx, box, alert, ratio) {
    if (alert && Math.min(box[2], box[3]) > 16 * ratio) {
      outline(ctx, box, alert, 2 * ratio);
      return;
    }
    ctx.strokeStyle = alert || WS.css('--outline');
    ctx.lineWidth = ratio;
    ctx.strokeRect(...box);
  }

  function outline(ctx, box, colour, width, dash) {
    const [x, y, w, h] = box;
    ctx.setLineDash(dash || []);
    ctx.strokeStyle = WS.css('--halo');
    ctx.lineWidth = width + 2;
    ctx.strokeRect(x, y, w, h);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect(x, y, w, h);
    ctx.setLineDash([]);
  }

  const LEAST_LETTERS = 6; // of a name cut short, below which it says too little

  /* Return the longest beginning of a text that fits, '' when too little of it would be left. */
  function cut(ctx, text, room) {
    const share = room / ctx.measureText(text).width;
    if (share >= 1) return text;
    const letters = Math.floor(text.length * share) - 2;
    return letters < LEAST_LETTERS ? '' : `${text.slice(0, letters)}\u2026`;
  }

  /* Write a kernel's name: along the top, down the side of a narrow region, smaller, or cut. */
  function label(ctx, name, box, canvas, size) {
    const small = size * 0.8;
    if (write(ctx, name, box, canvas, size, false)) return;
    ctx.font = ctx.font.replace(/[\d.]+px/, `${small}px`);
    if (!write(ctx, name, box, canvas, small, false)) write(ctx, name, box, canvas, small, true);
    ctx.font = ctx.font.replace(/[\d.]+px/, `${size}px`);
  }

  function write(ctx, name, box, canvas, size, mayCut) {
    const left = Math.max(0, box[0]);
    const top = Math.max(0, box[1]);
    const width = Math.min(canvas.width, box[0] + box[2]) - left;
    const height = Math.min(canvas.height, box[1] + box[3]) - top;
    const names = name.split(', ');
    const texts = names.length > 1 ? [name, `${names[0]} +${names.length - 1}`] : [name];
    const [high, wide] = [height >= size * 1.3 + 2, width >= size * 1.25];
    for (const whole of texts) {
      const room = Math.max(high ? width : 0, wide ? height : 0) - size * 0.7 - 4;
      const text = mayCut ? cut(ctx, whole, room) : whole;
      if (!text) continue;
      const length = ctx.measureText(text).width + size * 0.7;
      const across = high && length + 4 <= width;
      const down = wide && length + 4 <= height;
      if (!across && !down) continue;
      ctx.save();
      ctx.translate(left + 2, top + 2);
      if (!across) ctx.transform(0, 1, -1, 0, Math.min(size * 1.45 - 1, width - 2), 0);
      ctx.strokeStyle = WS.css('--label-halo');
      ctx.lineWidth = size * 0.3;
      ctx.strokeText(text, size * 0.35, size * 1.1);
      ctx.fillStyle = WS.css('--label');
      ctx.fillText(text, size * 0.35, size * 1.1);
      ctx.restore();
      return true;
    }
    return false;
  }

  function grid(ctx, canvas, mesh, facts) {
    if (mesh.k < 12 * mesh.ratio) return;
    const [rows, cols] = facts.grid;
    ctx.beginPath();
    for (let c = Math.max(0, Math.ceil(-mesh.ox / mesh.k)); c <= cols; c++) {
      const x = c * mesh.k + mesh.ox;
      if (x > canvas.width) break;
      ctx.moveTo(x, Math.max(0, mesh.oy));
      ctx.lineTo(x, Math.min(canvas.height, rows * mesh.k + mesh.oy));
    }
    for (let r = Math.max(0, Math.ceil(-mesh.oy / mesh.k)); r <= rows; r++) {
      const y = r * mesh.k + mesh.oy;
      if (y > canvas.height) break;
      ctx.moveTo(Math.max(0, mesh.ox), y);
      ctx.lineTo(Math.min(canvas.width, cols * mesh.k + mesh.ox), y);
    }
    ctx.strokeStyle = WS.css('--grid');
    ctx.lineWidth = 1;
    ctx.stroke();
  }

  /* Write each PE's value into it where there is room. */
  function values(ctx, canvas, mesh, scene) {
    if (mesh.k < 44 * mesh.ratio || scene.metric.kind === 'category') return;
    const [rows, cols] = scene.facts.grid;
    const [row, col, high, wide] = mesh.visible();
    ctx.font = `${11 * mesh.ratio}px ${WS.css('--font')}`;
    ctx.textAlign = 'center';
    ctx.strokeStyle = WS.css('--label-halo');
    ctx.fillStyle = WS.css('--label');
    ctx.lineWidth = 3 * mesh.ratio;
    for (let r = row; r < Math.min(rows, row + high); r++) {
      for (let c = col; c < Math.min(cols, col + wide); c++) {
        const code = scene.codes[r * cols + c];
        if (code === scene.nil && scene.facts.striped[r * cols + c]) continue;
        const at = [(c + 0.5) * mesh.k + mesh.ox, (r + 0.6) * mesh.k + mesh.oy];
        ctx.strokeText(WS.shortValue(scene, code), ...at);
        ctx.fillText(WS.shortValue(scene, code), ...at);
      }
    }
    ctx.textAlign = 'start';
  }

  /* Return the outlines to draw: all of them, or of a streaming run that of the kernel whose turn
     it is, as its kernels follow each other on the same PEs. */
  function shown(facts) {
    const streaming = WS.state && WS.state.streaming;
    if (!streaming || !facts.regions) return facts.outlines;
    return streaming.turn.map((name) => ({ ...facts.regions[name], severity: 'ok',
      name: streaming.is_waiting ? `next: ${name}` : name }));
  }

  WS.drawOverlay = function (ctx, canvas, mesh, scene) {
    const { facts } = scene;
    const marks = WS.tables.themes[document.documentElement.dataset.theme].marks;
    const chosen = WS.state ? WS.state.cursor.selection : { kind: 'none' };
    const size = 11.5 * mesh.ratio;
    const names = chosen.kernel ? [chosen.kernel] : [];
    grid(ctx, canvas, mesh, facts);
    ctx.lineJoin = 'round';
    values(ctx, canvas, mesh, scene);
    ctx.font = `600 ${size}px ${WS.css('--font')}`;
    const mine = [];
    const outlines = shown(facts);
    for (const item of outlines) {
      const box = boxOf(mesh, item.row, item.col, item.rows, item.cols);
      if (box[0] > canvas.width || box[1] > canvas.height) continue;
      if (box[0] + box[2] < 0 || box[1] + box[3] < 0) continue;
      if (item.name.split(', ').some((name) => names.includes(name))) mine.push(box);
      else plain(ctx, box, item.severity === 'alert' ? marks.alert : null, mesh.ratio);
    }
    mine.forEach((box) => outline(ctx, box, marks.selection, 2 * mesh.ratio));
    outlines.forEach((item) => label(
      ctx, item.name, boxOf(mesh, item.row, item.col, item.rows, item.cols), canvas, size));
    if (chosen.kind === 'region' && chosen.region) {
      const { row, col, rows, cols } = chosen.region;
      outline(ctx, boxOf(mesh, row, col, rows, cols), marks.selection, 2 * mesh.ratio, [6, 4]);
    }
    if (chosen.pe) crosshair(ctx, canvas, mesh, chosen.pe, marks.selection);
    if (WS.state && WS.state.hit) ring(ctx, mesh, WS.state.hit, marks.alert);
  };

  const SIDES = { east: [1, 0, 1, 1], west: [0, 0, 0, 1], north: [0, 0, 1, 0], south: [0, 1, 1, 1] };

  /* Draw a ring around the PE that stopped the run, and a bar on the side of the link it is about. */
  function ring(ctx, mesh, hit, colour) {
    const [x, y, side] = boxOf(mesh, hit.row, hit.col, 1, 1);
    const radius = Math.max(side * 0.75, 11 * mesh.ratio);
    ctx.beginPath();
    ctx.arc(x + side / 2, y + side / 2, radius, 0, 2 * Math.PI);
    const ends = side > 6 * mesh.ratio && SIDES[hit.plane];
    if (ends) {
      ctx.moveTo(x + ends[0] * side, y + ends[1] * side);
      ctx.lineTo(x + ends[2] * side, y + ends[3] * side);
    }
    ctx.strokeStyle = WS.css('--halo');
    ctx.lineWidth = 5 * mesh.ratio;
    ctx.stroke();
    ctx.strokeStyle = colour;
    ctx.lineWidth = 3 * mesh.ratio;
    ctx.stroke();
  }

  function crosshair(ctx, canvas, mesh, pe, colour) {
    const least = 8 * mesh.ratio;
    const [x, y, side] = boxOf(mesh, pe[0], pe[1], 1, 1);
    const grown = Math.max(side, least);
    const box = [x + side / 2 - grown / 2, y + side / 2 - grown / 2, grown, grown];
    outline(ctx, box, colour, 2 * mesh.ratio);
    if (side > least) return;
    const reach = 14 * mesh.ratio;
    const [cx, cy] = [x + side / 2, y + side / 2];
    ctx.beginPath();
    [[-1, 0], [1, 0], [0, -1], [0, 1]].forEach(([dx, dy]) => {
      ctx.moveTo(cx + (dx * grown) / 2, cy + (dy * grown) / 2);
      ctx.lineTo(cx + dx * reach, cy + dy * reach);
    });
    ctx.strokeStyle = colour;
    ctx.stroke();
  }
})();
