/**
 * Texts that end outside the screen, or that a box around them cuts off; code may be scrolled, … marks cut text, and a box
 * of one pixel has texts for screen readers.
 */
export const CUT_TEXTS = `(() => {
  const cut = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (text.data.trim() === "" || element.closest("noscript, script, style, select, textarea, pre")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const { right, width } = range.getBoundingClientRect();
    if (width === 0) continue;
    for (let one = element; one; one = one.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(one);
      if (textOverflow === "ellipsis" || (overflowX !== "visible" && one.getBoundingClientRect().width <= 1)) break;
      const edge = one === document.body ? document.documentElement.clientWidth : one.getBoundingClientRect().right;
      if (right <= edge + 1 || (overflowX === "visible" && one !== document.body)) continue;
      cut.add(element.localName + "." + element.className + " " + text.data.trim().slice(0, 40));
      break;
    }
  }
  return [...cut].slice(0, 20);
})()`;
