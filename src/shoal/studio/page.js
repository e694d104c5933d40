// What Quasar and the browser leave open: the page's language, sliders and fields for screen readers, a focus
// that stays where parts are drawn again, and the live panel as a sheet.
document.documentElement.lang = 'en';

(() => {
  // Quasar names the whole slider, and the part that takes the focus has neither a role nor a name.
  const MOVED = ['role', 'aria-label', 'aria-valuemin', 'aria-valuemax', 'aria-valuenow', 'aria-orientation'];
  const ENDS = ['lowest', 'highest'];

  const name = (slider) => {
    const thumbs = [...slider.querySelectorAll('[tabindex]')];
    if (!thumbs.length) return;
    for (const attribute of MOVED) {
      if (!slider.hasAttribute(attribute)) continue;
      const value = slider.getAttribute(attribute);
      slider.removeAttribute(attribute);
      thumbs.forEach((thumb, i) => {
        const end = attribute === 'aria-label' && thumbs.length > 1 ? `, ${ENDS[i]}` : '';
        thumb.setAttribute(attribute, value + end);
      });
    }
    const said = (slider.dataset.said || '').split('|');
    thumbs.forEach((thumb, i) => {
      if (said[i]) thumb.setAttribute('aria-valuetext', said[i]);
      if (!thumb.hasAttribute('aria-valuenow') && said[i]) thumb.setAttribute('aria-valuenow', parseFloat(said[i]));
    });
  };
  // the "+" of a field for files
  const nameFields = () => {
    for (const plus of document.querySelectorAll('.q-uploader a.q-btn:not([aria-label])')) plus.setAttribute('aria-label', 'Choose a file');
  };
  const look = (changes) => {
    const found = new Set();
    for (const change of changes) {
      if (change.type === 'attributes') {
        if (change.target.classList.contains('q-slider')) found.add(change.target);
        continue;
      }
      for (const node of change.addedNodes) {
        if (node.nodeType !== 1) continue;
        if (node.classList.contains('q-slider')) found.add(node);
        for (const slider of node.querySelectorAll('.q-slider')) found.add(slider);
      }
    }
    found.forEach(name);
    nameFields();
  };
  const begin = () => {
    document.querySelectorAll('.q-slider').forEach(name);
    nameFields();
    new MutationObserver(look).observe(document.body, {
      childList: true, subtree: true, attributes: true, attributeFilter: [...MOVED, 'data-said'],
    });
  };
  if (document.body) begin(); else document.addEventListener('DOMContentLoaded', begin);
})();

// A mistake that is shown goes with the next one, which stands above it, with the next step and with its screen.
(() => {
  const close = (kept) => [...document.querySelectorAll('.mistake')].slice(kept)
    .forEach((one) => one.querySelector('.q-btn')?.click());
  window.shoalCloseMistakes = () => close(0);
  const begin = () => new MutationObserver(() => {
    if (document.querySelectorAll('.mistake').length > 1) setTimeout(() => close(1));
  }).observe(document.body, {childList: true, subtree: true});
  if (document.body) begin(); else document.addEventListener('DOMContentLoaded', begin);
})();

// What has the focus may be drawn again: what is called the same takes it over, so that Tab goes on from there.
(() => {
  const PATIENCE = 3000;  // milliseconds
  let held = null, name = '', lost = 0;
  const called = (e) => [
    e.tagName, e.type, e.getAttribute('aria-label'), ...Object.values(e.dataset), e.textContent.trim(),
  ].join('|');
  document.addEventListener('focusin', (e) => { held = e.target; name = called(held); lost = 0; });
  document.addEventListener('focusout', (e) => {
    const left = e.target;
    setTimeout(() => { if (left === held && left.isConnected && document.activeElement !== left) held = null; });
  });
  const begin = () => new MutationObserver(() => {
    if (!held || held.isConnected || document.activeElement !== document.body) return;
    lost ||= performance.now();
    const others = document.querySelectorAll(`.shell ${held.tagName}:is(button, a, input, textarea, summary, [tabindex])`);
    const same = [...others].find((e) => called(e) === name);
    if (same) same.focus({preventScroll: true});
    else if (performance.now() - lost > PATIENCE) held = null;
  }).observe(document.body, {childList: true, subtree: true});
  if (document.body) begin(); else document.addEventListener('DOMContentLoaded', begin);
})();

// On narrow windows the live panel is a sheet above the page, opened from the line at the bottom.
(() => {
  const root = document.documentElement;
  const isOpen = () => root.classList.contains('sheet-open');
  const sheet = (open, comeBack = true) => {
    if (isOpen() === open) return;
    const panel = document.getElementById('live');
    const opener = document.getElementById('open-sheet');
    root.classList.toggle('sheet-open', open);
    for (const part of document.querySelectorAll('.shell > :not(.live)')) part.inert = open;
    opener.setAttribute('aria-expanded', open);
    if (open) {
      panel.setAttribute('role', 'dialog');
      panel.setAttribute('aria-modal', 'true');
      panel.scrollTo(0, 0);
      panel.focus();
    } else {
      panel.removeAttribute('role');
      panel.removeAttribute('aria-modal');
      if (comeBack) opener.focus();
    }
  };
  window.shoalCloseSheet = () => sheet(false, false);
  document.addEventListener('click', (e) => {
    if (e.target.closest('#open-sheet')) return sheet(true);
    if (!isOpen()) return;
    if (e.target.closest('.live a[href]')) return sheet(false, false);
    // what is inert takes no press: one beside the sheet arrives at what holds both
    if (e.target.closest('#close-sheet') || e.target.matches('.shell, body, html')) sheet(false);
  });
  document.addEventListener('keydown', (e) => { if (e.key === 'Escape' && isOpen()) sheet(false); });
  matchMedia('(max-width: 900px)').addEventListener('change', () => sheet(false, false));
})();
