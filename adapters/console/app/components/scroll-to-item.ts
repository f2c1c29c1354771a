/** Scrolls a positioned list so that it shows an item in its middle; `scrollIntoView` would move the page too. */
export function scrollToItem(list: HTMLElement, item: HTMLElement): void {
  const { scrollTop, clientHeight } = list;
  const { offsetTop: top, offsetHeight: height } = item;
  if (top >= scrollTop && top + height <= scrollTop + clientHeight) return;
  list.scrollTop = top - (clientHeight - height) / 2;
}
