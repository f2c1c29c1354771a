/** The rows that a long list draws: `from` up to but not including `to`. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
}

/** A scrolled list whose rows are all the same height; lengths are in pixels. */
export interface ScrollState {
  /** Distance from the start of the list down to the top of the view; negative if the list starts below it. */
  readonly topOffset: number;
  readonly viewHeight: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Number of rows drawn beyond each edge of the view, so that no empty space shows while scrolling. */
const OVERSCAN = 8;

/** The rows in view, and a few beyond each edge. */
export function rowWindow({ topOffset, viewHeight, rowHeight, count }: ScrollState): RowWindow {
  const first = Math.floor(topOffset / rowHeight) - OVERSCAN;
  const last = Math.ceil((topOffset + viewHeight) / rowHeight) + OVERSCAN;
  const from = Math.min(Math.max(0, first), count);
  return { from, to: Math.max(from, Math.min(count, last)) };
}

/**
 * The rows to draw in the next task: the rows of the window that are already drawn, and at most `maxNewRows` new ones.
 * @param first the most urgent row; the others follow downwards, then upwards
 */
export function nextRows(drawnRows: RowWindow, window: RowWindow, first: number, maxNewRows: number): RowWindow {
  let from = Math.max(drawnRows.from, window.from);
  let to = Math.min(drawnRows.to, window.to);
  const urgentRow = Math.min(Math.max(first, window.from), Math.max(window.from, window.to - 1));
  if (from >= to) from = to = urgentRow; // no drawn row remains
  let remaining = maxNewRows;
  const rowsAbove = Math.min(remaining, Math.max(0, from - urgentRow));
  from -= rowsAbove;
  remaining -= rowsAbove;
  const rowsBelow = Math.min(remaining, window.to - to);
  to += rowsBelow;
  remaining -= rowsBelow;
  from -= Math.min(remaining, from - window.from);
  return { from, to };
}

/** True if the view approaches rows that have not been read. */
export function isNearEnd({ topOffset, viewHeight, rowHeight, count }: ScrollState): boolean {
  return topOffset + 2 * viewHeight >= count * rowHeight;
}

/** The row that a key moves to; undefined for keys that do not move. @param page number of rows in view */
export function rowAfterKey(key: string, row: number, count: number, page: number): number | undefined {
  const step = Math.max(1, page - 1);
  const target = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + step,
    PageUp: row - step,
    Home: 0,
    End: count - 1,
  }[key];
  return target === undefined || count === 0 ? undefined : Math.min(Math.max(0, target), count - 1);
}
