/**
 * Texts that end outside the screen, or that a box around them cuts off. Excluded are code, which may be scrolled, text that
 * ends in …, and boxes of one pixel, whose texts are for screen readers.
 */
export const CUT_TEXTS = `(() => {
  const cutTexts = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (text.data.trim() === "" || element.closest("noscript, script, style, select, textarea, pre")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const { right, width } = range.getBoundingClientRect();
    if (width === 0) continue;
    for (let box = element; box; box = box.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(box);
      if (textOverflow === "ellipsis" || (overflowX !== "visible" && box.getBoundingClientRect().width <= 1)) break;
      const edge = box === document.body ? document.documentElement.clientWidth : box.getBoundingClientRect().right;
      if (right <= edge + 1 || (overflowX === "visible" && box !== document.body)) continue;
      cutTexts.add(element.localName + "." + element.className + " " + text.data.trim().slice(0, 40));
      break;
    }
  }
  return [...cutTexts].slice(0, 20);
})()`;
