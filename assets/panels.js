/* Fills the panels of the moment: components described by the server, made into elements.
   What is there already is kept and changed in place, so that focus, selection and scroll stay. */
(function () {
  'use strict';
  const WS = (window.WS = window.WS || {});
  const SHAPES = 'http://www.w3.org/2000/svg';

  /* Return the parts of a component's children: texts and components, nothing else. */
  function partsOf(children) {
    if (children === null || children === undefined || children === '') return [];
    if (Array.isArray(children)) return children.flatMap(partsOf);
    return [children];
  }

  const isElement = (part) => typeof part === 'object';

  function fits(node, part) {
    if (!node) return false;
    if (!isElement(part)) return node.nodeType === Node.TEXT_NODE;
    return node.nodeName.toLowerCase() === part.type.toLowerCase();
  }

  function styleText(style) {
    return Object.entries(style).map(([name, value]) => (
      `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}:${value}`)).join(';');
  }

  function attributesOf({ children, className, style, ...others }) {
    const wanted = new Map();
    if (className) wanted.set('class', className);
    if (style) wanted.set('style', styleText(style));
    Object.entries(others).forEach(([name, value]) => {
      if (value === true) wanted.set(name, '');
      else if (value !== false && value !== null) wanted.set(name, String(value));
    });
    return wanted;
  }

  function change(node, part) {
    if (!isElement(part)) {
      if (node.data !== String(part)) node.data = String(part);
      return;
    }
    const wanted = attributesOf(part.props);
    [...node.attributes].forEach(({ name }) => { if (!wanted.has(name)) node.removeAttribute(name); });
    wanted.forEach((value, name) => {
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    });
    WS.fill(node, part.props.children);
  }

  /* Make the element of a part; what stands inside a picture is one of its shapes. */
  function made(part, parent) {
    const name = part.type.toLowerCase();
    const drawn = name === 'svg' || parent.namespaceURI === SHAPES;
    return drawn ? document.createElementNS(SHAPES, part.type) : document.createElement(name);
  }

  /* Make an element's children those described. */
  WS.fill = function (element, children) {
    const parts = partsOf(children);
    parts.forEach((part, index) => {
      let node = element.childNodes[index];
      if (!fits(node, part)) {
        const fresh = isElement(part) ? made(part, element) : document.createTextNode('');
        if (node) element.replaceChild(fresh, node);
        else element.append(fresh);
        node = fresh;
      }
      change(node, part);
    });
    while (element.childNodes.length > parts.length) element.lastChild.remove();
  };

  const drawn = new Map();
  let asked = 0;

  /* Have every panel of the moment filled again the next time. */
  WS.forgetMoment = () => drawn.clear();

  /* Ask for the panels of the moment and show those that changed. */
  WS.showMoment = async function () {
    const { theme } = document.documentElement.dataset;
    asked += 1;
    const mine = asked;
    const found = await WS.getJSON(`/api/moment/${WS.session}/${theme}`);
    if (mine !== asked) return;
    const own = WS.differenceMode() === 'off' ? [] : ['legend', 'map-sentence'];
    Object.entries(found || {}).forEach(([id, children]) => {
      if (own.includes(id)) return;
      const text = JSON.stringify(children);
      if (drawn.get(id) === text) return;
      drawn.set(id, text);
      WS.fill(WS.$(id), children);
    });
  };
})();
