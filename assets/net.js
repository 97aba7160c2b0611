/* Talks to the server: one session a tab, commands in order, the newest seek wins.
   Knows no canvas. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const queue = [];
  let busy = false;
  let retry = null;

  WS.$ = (id) => document.getElementById(id);
  WS.make = function (tag, attributes, ...children) {
    const node = document.createElement(tag);
    Object.entries(attributes || {}).forEach(([name, value]) => {
      if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
    });
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };

  function tabName() {
    let name = null;
    try { name = sessionStorage.getItem('waferscope-tab'); } catch (error) { name = null; }
    if (!name) {
      const raw = crypto.getRandomValues(new Uint8Array(12));
      name = Array.from(raw, (byte) => byte.toString(16).padStart(2, '0')).join('');
      try { sessionStorage.setItem('waferscope-tab', name); } catch (error) { WS.tabLost = true; }
    }
    return name;
  }

  WS.openSession = function () {
    WS.epoch = WS.$('page').dataset.epoch;
    WS.base = WS.$('page').dataset.base.replace(/\/$/, '');
    WS.session = `${WS.epoch}-${tabName()}`;
  };

  const SILENT = 'The server does not answer. Start waferscope again in the terminal; ' +
    'this page comes back by itself.';
  const LOCKED = 'The server asks for its token: it was started again with another one. Open the ' +
    'address that it printed in a new tab; this page then comes back by itself.';

  WS.isOffline = () => retry !== null;
  WS.isBusy = () => busy;

  function offline(why) {
    document.body.classList.add('offline');
    WS.cover(why);
    if (!retry) retry = setInterval(() => WS.refresh(), 1500);
  }

  function online() {
    if (!retry) return;
    clearInterval(retry);
    retry = null;
    document.body.classList.remove('offline');
    WS.cover('');
  }

  /* Load the page of the new server; asking on would call off a load that takes its time. */
  function leave() {
    clearInterval(retry);
    location.reload();
  }

  async function ask(path, options) {
    let answer;
    try {
      answer = await fetch(WS.base + path, options);
    } catch (error) {
      offline(SILENT);
      return null;
    }
    if (answer.status === 401) {
      offline(LOCKED);
      return null;
    }
    if (answer.status === 410) {
      leave();
      return null;
    }
    online();
    if (answer.status === 204) return null;
    if (!answer.ok) {
      WS.toast(`The server refused ${path.split('/').slice(0, 3).join('/')}: ` +
        `${(await answer.text()).slice(0, 300)}`, 'alert');
      return null;
    }
    return answer;
  }

  WS.getJSON = async function (path) {
    const answer = await ask(path);
    return answer ? answer.json() : null;
  };

  WS.getBytes = async function (path) {
    const answer = await ask(path);
    return answer ? { data: await answer.arrayBuffer(), headers: answer.headers } : null;
  };

  WS.postJSON = async function (path, body) {
    const answer = await ask(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return answer ? answer.json() : null;
  };

  /* Post a body as it is; resolves with the answer, null when it was refused. */
  WS.send = (path, options) => ask(path, { method: 'POST', ...options });

  WS.refresh = async function () {
    const state = await WS.getJSON(`/api/state/${WS.session}`);
    if (state && WS.tables) WS.apply(state);
    return state;
  };

  function merged(tail, command, args) {
    if (!tail || tail.command !== command) return false;
    if (command === 'seek' || command === 'cycle' || command === 'pe') tail.args = args;
    else if (command === 'next' || command === 'back') {
      tail.args = [Number(tail.args[0] || 1) + Number(args[0] || 1)];
    } else return queue.length > 3;
    return true;
  }

  /* Send a command; resolves with the state after it. Held keys are added up, not queued. */
  WS.act = function (command, ...args) {
    const tail = queue[queue.length - 1];
    if (merged(tail, command, args)) return tail.promise;
    const item = { command, args };
    item.promise = new Promise((resolve) => { item.resolve = resolve; });
    queue.push(item);
    pump();
    return item.promise;
  };

  async function pump() {
    if (busy) return;
    busy = true;
    while (queue.length) {
      const item = queue.shift();
      const state = await WS.postJSON(`/api/do/${WS.session}`,
        { command: item.command, args: item.args });
      if (state) WS.apply(state);
      item.resolve(state);
    }
    busy = false;
  }

  /* Tell the server what the canvas shows; until it knows, its own viewport is not followed. */
  WS.boxesOut = 0;
  WS.sendBox = async function (box) {
    WS.boxesOut += 1;
    const state = await WS.postJSON(`/api/viewport/${WS.session}`, { box });
    WS.boxesOut -= 1;
    if (state) WS.apply(state);
  };

  let toastTimer = null;
  WS.toast = function (text, severity) {
    const toast = WS.$('toast');
    toast.textContent = text;
    toast.className = text ? `shown ${severity || 'ok'}` : '';
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { toast.className = ''; }, severity === 'alert' ? 9000 : 4500);
  };

  /* Cover the map with a text or an element; nothing: uncover it. */
  WS.cover = function (what) {
    const cover = WS.$('cover');
    cover.replaceChildren(what);
    cover.hidden = !what;
  };
})();
