/** The rows that a long list draws: `from` up to, not including, `to`. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
}

/** A scrolled list of rows of one height; all in pixels. */
export interface Scrolled {
  /** Distance by which the list's beginning is above the view's upper edge; negative if it is below it. */
  readonly above: number;
  readonly viewHeight: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Rows beyond each edge of the view, so that scrolling meets no empty space. */
const BEYOND = 8;

/** The rows in view, and a few beyond its edges. */
export function rowWindow({ above, viewHeight, rowHeight, count }: Scrolled): RowWindow {
  const first = Math.floor(above / rowHeight) - BEYOND;
  const last = Math.ceil((above + viewHeight) / rowHeight) + BEYOND;
  const from = Math.min(Math.max(0, first), count);
  return { from, to: Math.max(from, Math.min(count, last)) };
}

/**
 * The rows to draw next on the way from the drawn ones to those of a window, a few per task: the drawn rows and at most
 * `most` new ones.
 * @param first the most urgent row; the others follow downwards, then upwards
 */
export function nextRows(drawn: RowWindow, window: RowWindow, first: number, most: number): RowWindow {
  let from = Math.max(drawn.from, window.from);
  let to = Math.min(drawn.to, window.to);
  const needed = Math.min(Math.max(first, window.from), Math.max(window.from, window.to - 1));
  if (from >= to) from = to = needed; // no drawn row remains
  let left = most;
  const up = Math.min(left, Math.max(0, from - needed));
  from -= up;
  left -= up;
  const down = Math.min(left, window.to - to);
  to += down;
  left -= down;
  from -= Math.min(left, from - window.from);
  return { from, to };
}

/** True if the view is about to reach rows that have not been read yet. */
export function nearEnd({ above, viewHeight, rowHeight, count }: Scrolled): boolean {
  return above + 2 * viewHeight >= count * rowHeight;
}

/** The row that a key moves to; undefined for any other key. @param page rows in view */
export function rowAfterKey(key: string, row: number, count: number, page: number): number | undefined {
  const step = Math.max(1, page - 1);
  const to = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + step,
    PageUp: row - step,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined || count === 0 ? undefined : Math.min(Math.max(0, to), count - 1);
}
