// What a keyboard, a screen reader and weak eyes need of a page: a list of what is wrong.
() => {
  const wrong = [];
  const CONTROLS = 'button, a[href], input:not([type=hidden]), select, textarea, summary, [tabindex="0"],'
    + ' [role=button], [role=slider], [role=checkbox], [role=combobox], [role=treeitem], [role=option], [role=switch]';

  const shown = (e) => e.checkVisibility({opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true})
    && !e.closest('[inert]') && e.getClientRects().length > 0;
  const said = (e) => {  // its text, without what screen readers skip
    if (e.nodeType === Node.TEXT_NODE) return e.data;
    if (e.nodeType !== Node.ELEMENT_NODE || e.getAttribute('aria-hidden') === 'true') return '';
    return e.getAttribute('aria-label') || e.getAttribute('alt') || [...e.childNodes].map(said).join(' ');
  };
  const name = (e) => {
    const by = (e.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean)
      .map((id) => document.getElementById(id)).filter(Boolean).map(said).join(' ');
    const label = [...(e.labels || [])].map(said).join(' ') + (e.closest('label') ? said(e.closest('label')) : '');
    return (by || e.getAttribute('aria-label') || label || said(e) || e.getAttribute('title') || '').trim();
  };
  const here = (e) => {
    const open = e.cloneNode(false).outerHTML.replace(/<\/.*/, '').slice(0, 160);
    return `${open} “${(e.textContent || '').trim().slice(0, 40)}”`;
  };

  // names, roles and states
  for (const e of document.querySelectorAll(CONTROLS)) {
    if (!shown(e) || e.closest('[aria-hidden=true]')) continue;
    if (!name(e) && e.getAttribute('role') !== 'region') wrong.push(`no name: ${here(e)}`);
    if (e.tabIndex > 0) wrong.push(`jumps ahead in the order: ${here(e)}`);
    const outer = e.parentElement.closest('button, a[href]');
    if (outer) wrong.push(`a control within another: ${here(e)}`);
    const box = e.getBoundingClientRect();
    const inline = getComputedStyle(e).display === 'inline' || e.matches('input, summary, [role=slider], .visually-hidden');
    if (!inline && e.matches('button, a[href]') && (box.width < 24 || box.height < 24) && !e.matches('.skip'))
      wrong.push(`smaller than 24 pixels (${box.width.toFixed()} × ${box.height.toFixed()}): ${here(e)}`);
  }
  for (const e of document.querySelectorAll('[aria-hidden=true] :is(button, a[href], input, [tabindex="0"])'))
    if (shown(e) && e.tabIndex >= 0) wrong.push(`takes the focus but is not read: ${here(e)}`);
  for (const e of document.querySelectorAll('[role=img], img, [role=table], [role=tree], [role=group], [role=dialog], nav, aside'))
    if (shown(e) && !e.closest('[aria-hidden=true]') && !name(e)) wrong.push(`no name: ${here(e)}`);
  for (const e of document.querySelectorAll('[role=slider]'))
    if (shown(e) && !e.hasAttribute('aria-valuenow')) wrong.push(`no value: ${here(e)}`);

  // what points at others, and what others point at
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) wrong.push(`several have the id ${id}`);
  for (const attribute of ['aria-labelledby', 'aria-describedby', 'for'])
    for (const e of document.querySelectorAll(`[${attribute}]`))
      for (const id of e.getAttribute(attribute).split(/\s+/).filter(Boolean))
        if (shown(e) && !document.getElementById(id)) wrong.push(`${attribute} points at nothing: ${here(e)}`);

  // headings and landmarks
  if (!document.documentElement.lang) wrong.push('the page does not say its language');
  if (!document.title) wrong.push('the page has no title');
  for (const one of ['h1', 'main']) {
    const many = document.querySelectorAll(one).length;
    if (many !== 1) wrong.push(`${many} times ${one}`);
  }
  let level = 0;
  for (const e of document.querySelectorAll('main :is(h1, h2, h3, h4)')) {
    if (!shown(e)) continue;
    const next = Number(e.tagName[1]);
    if (level && next > level + 1) wrong.push(`h${level} is followed by h${next}: ${here(e)}`);
    level = next;
  }

  // contrast of every text: WCAG 2.1, 1.4.3
  const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = colour;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const ground = (e) => {  // what is behind an element, all of it
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3]) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const weak = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !shown(e) || e.closest('script, style, [disabled], .visually-hidden, .skip, .cm-editor, i')) continue;
    const style = getComputedStyle(e);
    let faded = 1;
    for (let at = e; at; at = at.parentElement) faded *= Number(getComputedStyle(at).opacity);
    const behind = ground(e);
    const [r, g, b, a] = rgba(style.color);
    const [one, other] = [light(over([r, g, b, a * faded], behind)), light(behind)].sort((x, y) => y - x);
    const ratio = (one + 0.05) / (other + 0.05);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const needed = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
    if (ratio < needed) weak.add(`contrast ${ratio.toFixed(2)} of ${needed}: ${here(e)}`);
  }
  return [...wrong, ...weak];
}
