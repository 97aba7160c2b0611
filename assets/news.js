/* Listens for what others change in this session: a terminal attached to it, another page. Notices
   a server that has ended without waiting for a key. Knows no panel. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const ALONE_MS = 1000;
  const SHARED_MS = 200;
  const face = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16)).join('');
  let faces = 1;
  let timer = null;

  function isNews(news) {
    const { state } = WS;
    return news.born !== null
      && (news.born !== state.born || news.revision > state.status.revision);
  }

  /* Ask once; the next question follows the sooner, the more faces there are. */
  WS.listen = async function () {
    clearTimeout(timer);
    if (WS.state && !document.hidden && !WS.isBusy() && !WS.isOffline()) {
      const news = await WS.getJSON(`/api/news/${WS.session}?face=${face}`);
      if (news && isNews(news) && !WS.isOpening()) await WS.refresh();
      if (news && news.faces > faces) {
        WS.toast('Another page or terminal has joined this session; what it does shows here.');
      }
      if (news) faces = news.faces;
      if (news) await WS.showOpening(news.opening);
    }
    timer = setTimeout(WS.listen, faces > 1 || WS.isOpening() ? SHARED_MS : ALONE_MS);
  };

  WS.startNews = function () {
    document.addEventListener('visibilitychange', () => { if (!document.hidden) WS.listen(); });
    WS.listen();
  };
})();
