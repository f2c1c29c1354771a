/** Scrolls a list until it shows an item, in its middle; `scrollIntoView` would move the page too. The list is positioned. */
export function showInside(list: HTMLElement, item: HTMLElement): void {
  const { scrollTop, clientHeight } = list;
  const { offsetTop: top, offsetHeight: height } = item;
  if (top >= scrollTop && top + height <= scrollTop + clientHeight) return;
  list.scrollTop = top - (clientHeight - height) / 2;
}
