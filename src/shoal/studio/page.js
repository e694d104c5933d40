// What Quasar and the browser leave open: sliders for screen readers.
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
  };
  const begin = () => {
    document.querySelectorAll('.q-slider').forEach(name);
    new MutationObserver(look).observe(document.body, {
      childList: true, subtree: true, attributes: true, attributeFilter: [...MOVED, 'data-said'],
    });
  };
  if (document.body) begin(); else document.addEventListener('DOMContentLoaded', begin);
})();
