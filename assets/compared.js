/* A comparison in the page's address: with what, by which knobs, and how it is shown. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const CHANGE = /^([a-z0-9_]+) = ([^\s/\\]+)(?: for ([^\s/\\]+))?$/; // as the history words it
  const KNOB = /^([a-z0-9_]+(?:@[^\s=/\\]+)?)=([^\s/\\]+)$/; // no paths: a link shall name no files
  const MOST = 8; // changes of knobs in a link

  /* Return a change of the history as `knob@kernel=value`, null when a link cannot hold it. */
  function knobOf(change) {
    const found = CHANGE.exec(change);
    return found && `${found[1]}${found[3] ? `@${found[3]}` : ''}=${found[2]}`;
  }

  /* Add the comparison to the parts of the address, where it can be made again from them. */
  WS.tellCompared = function (parts) {
    const { compared, compared_as: made, knobs } = WS.state;
    if (!compared || !made) return;
    const changes = /^\d+$/.test(made) ? knobs.history.map(knobOf) : [];
    if (changes.includes(null) || changes.length > MOST) return;
    changes.forEach((change) => parts.append('knob', change));
    parts.set('compare', made);
    if (WS.isBeside()) parts.set('beside', 1);
    else if (WS.differenceMode() !== 'off') parts.set('differs', WS.differenceMode());
  };

  const isAtWork = () => WS.state.status.job && WS.state.status.job.state === 'running';

  /* Run a command and wait for the work that it starts. */
  async function done(id, ...args) {
    const state = await WS.act(id, ...args);
    while (isAtWork()) await new Promise((resolve) => { setTimeout(resolve, 100); });
    return state && !state.error;
  }

  /* Compare again as an address says: with a recording, or with a run on the way of its knobs. */
  WS.restoreCompared = async function (wanted) {
    const made = wanted.get('compare');
    if (!made || WS.state.compared) return;
    if (!/^\d+$/.test(made)) {
      await done('compare', made);
      return;
    }
    const knobs = wanted.getAll('knob').slice(0, MOST).map((text) => KNOB.exec(text));
    if (knobs.includes(null) || WS.state.knobs.history.length) return;
    for (const [index, [, name, value]] of knobs.entries()) {
      if (!await done('set', name, value)) return;
      if (index === Number(made)) await done('compare');
    }
  };

  /* Show both runs as an address says, once its view is there. */
  WS.restoreBeside = function (wanted) {
    if (!WS.state.compared) return;
    if (wanted.has('beside')) WS.setBeside(true);
    else if (wanted.has('differs')) WS.setDifference(wanted.get('differs'));
  };
})();
